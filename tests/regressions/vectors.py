"""A network on vectors that lie in memory: the host has little to do, the GPU more."""

import torch
from torch.utils.data import DataLoader, TensorDataset

DTYPE = torch.float32


def main():
    torch.manual_seed(1)
    data = TensorDataset(torch.randn(8192, 1024), torch.randint(0, 10, (8192,)))
    loader = DataLoader(data, batch_size=512, pin_memory=True)
    model = torch.nn.Sequential(
        torch.nn.Linear(1024, 8192),
        torch.nn.GELU(),
        torch.nn.Linear(8192, 8192),
        torch.nn.GELU(),
        torch.nn.Linear(8192, 10),
    ).to("cuda", DTYPE)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, foreach=True)
    step = 0
    for _ in range(1000):
        for batch in loader:
            inputs = batch[0].to("cuda", DTYPE, non_blocking=True)
            labels = batch[1].to("cuda", non_blocking=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1


if __name__ == "__main__":
    main()
