"""Linear layers of known operations: `multiplies.py STEPS float32|bfloat16`."""

import sys
from itertools import pairwise

import torch
from torch import nn

sizes, batch = (2048, 4096, 4096, 1024), 256
model = nn.Sequential(*[nn.Linear(i, o) for i, o in pairwise(sizes)]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.zeros(batch, sizes[0]).pin_memory()
for _ in range(int(sys.argv[1])):
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.bfloat16, enabled=sys.argv[2] == "bfloat16"):
        loss = model(inputs.cuda(non_blocking=True)).float().sum()
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
