"""Two ranks, of which the second is late: `late_rank.py SLOW_S data|host`."""

import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

if "RANK" not in os.environ:
    # As torchrun starts them, whose own path would be kept with the run.
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29533", "WORLD_SIZE": "2"}
    ranks = [
        subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, **where, "RANK": rank})
        for rank in ("0", "1")
    ]
    sys.exit(max(rank.wait() for rank in ranks))
slow, where = float(sys.argv[1]), sys.argv[2]
dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)


class Samples(torch.utils.data.Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        if rank == 1 and where == "data":
            time.sleep(slow)
        return torch.zeros(1024)


net = torch.nn.Sequential(torch.nn.Linear(1024, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 64))
model = DistributedDataParallel(net.cuda(), device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in torch.utils.data.DataLoader(Samples(), 8):
    if rank == 1 and where == "host":
        time.sleep(slow * 8)
    loss = model(batch.cuda().repeat(64, 1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.cuda.synchronize()
dist.destroy_process_group()
