"""Trains on rows that come late: `steady_loop.py SIZE_OF_LAYERS SLOW_S`."""

import sys
import time

import torch

size, slow_s = int(sys.argv[1]), float(sys.argv[2])
torch.set_num_threads(1)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 30

    def __getitem__(self, index):
        time.sleep(slow_s)
        return torch.zeros(16)


first = torch.nn.Linear(16, size).cuda()
model = torch.nn.Sequential(*(torch.nn.Linear(size, size) for _ in range(4))).cuda()
optimizer = torch.optim.SGD([*first.parameters(), *model.parameters()], lr=0.1)
for batch in torch.utils.data.DataLoader(Rows(), 1):
    output = model(first(batch.cuda(non_blocking=True)).repeat(2048, 1))
    optimizer.zero_grad()
    output.sum().backward()
    optimizer.step()
torch.cuda.synchronize()
