"""A loop under Hugging Face's accelerate: mixed precision, accumulation, clipping, gathering."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-3, total_steps=40)
    data = TensorDataset(torch.randn(640, 64), torch.randint(10, (640,)))
    loader = DataLoader(data, batch_size=32, shuffle=True, pin_memory=True)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    steps = 0
    for _ in range(2):
        for features, labels in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(features), labels)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            steps += 1
        gathered = accelerator.gather_for_metrics(loss.detach())
        accelerator.print("loss", float(gathered.mean()))
    print("device", accelerator.device)
    print("steps", steps)


if __name__ == "__main__":
    main()
