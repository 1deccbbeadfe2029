"""Captured work is replayed as it was captured."""

from __future__ import annotations

from collections.abc import Callable

import torch
from checks import check, least, raises
from work import device_ms, host_ms, in_stream, join, measure_pass, work

one = measure_pass()
x = torch.ones(1024, device="cuda")


def capture(act: Callable[[], object]) -> torch.cuda.CUDAGraph:
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        act()
    return graph


def short_launches() -> None:
    for _ in range(200):
        x.add_(1)


graphs = [capture(lambda: work(10))]
check("capturing runs nothing", torch.cuda.current_stream().query())
issue = least(lambda: host_ms(graphs[0].replay), 0.5)
check("a replay returns before its work ends", issue < 5 * one, (issue, one))
span = least(lambda: device_ms(graphs[0].replay), 10.5 * one)
check("a replay takes as long as its work", 9.5 * one < span < 13 * one, (span, one))
again = least(lambda: device_ms(lambda: [graphs[0].replay() for _ in range(3)]), 31 * one)
check("replays of a stream follow each other", 29 * one < again < 36 * one, (again, one))

many = capture(short_launches)
eager_host = least(lambda: host_ms(short_launches), 0)
replay_host = least(lambda: host_ms(many.replay), 0)
check("a replay costs one launch", replay_host < eager_host / 2, (replay_host, eager_host))
eager = least(lambda: device_ms(short_launches), 0)
replayed = least(lambda: device_ms(many.replay), 0)
check("short kernels follow closer within a graph", replayed < eager, (replayed, eager))


def fork() -> None:
    side = torch.cuda.Stream()
    in_stream(side, lambda: work(5))
    work(5)
    join(side)


branches = capture(fork)
forked = least(lambda: device_ms(branches.replay), 10.5 * one)
check("branches of a graph share the device", 9.5 * one < forked < 14 * one, (forked, one))

seen = [torch.cuda.is_current_stream_capturing()]


def look() -> None:
    seen.append(torch.cuda.is_current_stream_capturing())
    x.add_(1)


capture(look)
check("a stream that captures says so", seen == [False, True], seen)

pool = torch.cuda.graph_pool_handle()
first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
with torch.cuda.graph(first, pool=pool):
    y = x * 2
with torch.cuda.graph(second, pool=pool):
    z = y + 1
first.replay()
second.replay()
torch.cuda.synchronize()
check("graphs share a memory pool", z.shape == x.shape)

model = torch.nn.Linear(64, 64).cuda()
graphed = torch.cuda.make_graphed_callables(model, (torch.ones(8, 64, device="cuda"),))
graphed(torch.ones(8, 64, device="cuda", requires_grad=True)).sum().backward()
check("a module can be graphed, forwards and backwards", model.weight.grad is not None)

last = device_ms(graphs[0].replay)
graphs.clear()
check("a graph can be destroyed after its replay", last > 9 * one, last)

# Last, as older torch cannot capture again after a capture that failed.
check(
    "synchronising fails while capturing",
    raises(Exception, lambda: capture(torch.cuda.synchronize)),
)
torch.cuda.synchronize()
check("after a failed capture the stream works", device_ms(lambda: work(2)) > 1.5 * one)
