"""Launches take all of its time, and a sample 200 MB of the GPU's 16 GB."""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int)
size = parser.parse_args().batch_size


class Net(torch.nn.Sequential):
    """Can keep half of its memory, and then takes a little longer."""

    grad_checkpointing = False

    def set_grad_checkpointing(self, enable=True):
        self.grad_checkpointing = enable

    def forward(self, rows):
        return super().forward(self[0](rows) if self.grad_checkpointing else rows)


model = Net(*[torch.nn.Linear(64, 64) for _ in range(30)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
rows = torch.utils.data.TensorDataset(torch.zeros(100_000, 64))
for (batch,) in torch.utils.data.DataLoader(rows, size):
    taken = None  # before the next is made
    loss = model(batch.cuda()).square().mean()
    taken = torch.empty(
        size * (25_000_000 if model.grad_checkpointing else 50_000_000), device="cuda"
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
