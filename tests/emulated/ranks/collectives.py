"""Two ranks: each kind of exchange, with small tensors that really travel. Prints each check."""

import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
world = int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", timeout=timedelta(seconds=60))
device = torch.device("cuda", rank)


def say(name: str, seen: object) -> None:
    sys.stdout.write(f"rank{rank} {name} {seen}\n")
    sys.stdout.flush()


def numbers(*values: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype).to(device)


tensor = numbers(1 + rank, 10 * (1 + rank))
dist.all_reduce(tensor)
say("all_reduce", tensor.tolist())

tensor = numbers(1 + rank, dtype=torch.float16)
dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
say("max", tensor.tolist())

tensor = numbers(4 + rank, dtype=torch.bfloat16)
dist.all_reduce(tensor, op=dist.ReduceOp.AVG)
say("avg", tensor.tolist())

tensor = numbers(7 * rank, dtype=torch.int64)
dist.broadcast(tensor, src=1)
say("broadcast", tensor.tolist())

parts = [torch.empty(2, device=device) for _ in range(world)]
dist.all_gather(parts, numbers(rank, rank + 0.5))
say("all_gather", [part.tolist() for part in parts])

tensor = torch.empty(1, device=device)
dist.reduce_scatter_tensor(tensor, numbers(1 + rank, 100 + rank))
say("reduce_scatter", tensor.tolist())

tensor = torch.empty(2, device=device)
dist.all_to_all_single(tensor, numbers(10 * rank, 10 * rank + 1))
say("all_to_all", tensor.tolist())

tensor = numbers(5) if rank == 0 else torch.empty(1, device=device)
(dist.send if rank == 0 else dist.recv)(tensor, 1 - rank)
say("send", tensor.tolist())

received = torch.empty(1, device=device)
for work in dist.batch_isend_irecv(
    [
        dist.P2POp(dist.isend, numbers(rank + 20), 1 - rank),
        dist.P2POp(dist.irecv, received, 1 - rank),
    ]
):
    work.wait()
say("batch", received.tolist())

objects: list[object] = [None] * world
dist.all_gather_object(objects, {"rank": rank, "name": "x" * (10 + 3000 * rank)})
say("objects", [(each["rank"], len(each["name"])) for each in objects])

listed = [{"seed": 42}, "text"] if rank == 0 else [None, None]
dist.broadcast_object_list(listed, src=0)
say("object_list", listed)

group = dist.new_group([0, 1])
tensor = numbers(rank + 1)
dist.all_reduce(tensor, group=group)
say("group", tensor.tolist())

# A collective begins when the last rank's stream has come to it; the host does not wait.
tensor = torch.zeros(1024, device=device)
begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
dist.all_reduce(tensor)
torch.cuda.synchronize()
dist.barrier()
if rank == 1:
    time.sleep(1)  # the other's call has returned by then, unless it waits
say("begun_ns", time.monotonic_ns())
begin.record()
dist.all_reduce(tensor)
end.record()
say("called_ns", time.monotonic_ns())
torch.cuda.synchronize()
say("waited_ns", time.monotonic_ns())
say("device_ms", begin.elapsed_time(end))

# 4 GB take 2 (n-1)/n * 4 GB / 300 GB/s over an A100's links.
# The first rank to come waits for the other, which may have to wait for a CPU: not every time.
tensor = torch.empty(1 << 30, device=device)
dist.all_reduce(tensor)
seen_ms = []
for _ in range(8):
    torch.cuda.synchronize()
    dist.barrier()
    begin.record()
    dist.all_reduce(tensor)
    end.record()
    torch.cuda.synchronize()
    seen_ms.append(begin.elapsed_time(end))
say("ring_ms", min(seen_ms))

dist.barrier()
say("end", dist.get_world_size())
dist.destroy_process_group()
