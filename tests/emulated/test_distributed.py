"""Several ranks on several emulated GPUs, by torch's own launchers."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from emulation import PYTHON, WARM, Emulation, machine
from warm_python import Child

RANKS = Path(__file__).parent / "ranks"
Emulated = Callable[..., Emulation]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def torchrun(emulation: Emulation, *script: str | Path, ranks: int = 2) -> str:
    done = emulation.run(
        PYTHON,
        "-m",
        "torch.distributed.run",
        f"--nproc-per-node={ranks}",
        f"--master-port={free_port()}",
        *script,
        timeout=240,
        env={"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def left_files(gpus: Emulation) -> list[Path]:
    return list(gpus.state.glob("nccl-*"))


@pytest.fixture(scope="module", autouse=True)
def pythons_of_two_ranks() -> None:
    """No test's own: they stay for the next."""
    with machine("a100") as emulation:
        WARM.prepare(emulation.environment, 2)


@contextmanager
def two_ranks(
    emulation: Emulation, script: str | Path, *arguments: str, **env: str
) -> Iterator[list[Child]]:
    """Two processes as a launcher starts them, ended when the block ends. "RANK" in a variable
    stands for their numbers."""
    port = str(free_port())
    words = [str(script)] if isinstance(script, Path) else ["-c", script]
    with ExitStack() as children:
        ranks = []
        for rank in range(2):
            of_rank = {
                **emulation.environment,
                "RANK": str(rank),
                "WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
                "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "10",
                **{name: value.replace("RANK", str(rank)) for name, value in env.items()},
            }
            child = WARM.start([*words, *arguments], of_rank, Path.cwd())
            ranks.append(children.enter_context(closing(child)))
        yield ranks


def outputs(emulation: Emulation, script: str | Path, *arguments: str, **env: str) -> list[str]:
    """What each of two ranks prints; both must end well."""
    said = []
    with two_ranks(emulation, script, *arguments, **env) as ranks:
        for rank in ranks:
            out, err = rank.communicate(timeout=240)
            assert rank.returncode == 0, out + err
            said.append(out)
    return said


@pytest.fixture(scope="module")
def collectives() -> dict[str, list[str]]:
    """What both ranks said of each check, in their order."""
    said: dict[str, list[str]] = {}
    with machine("a100", "--gpus", "2") as gpus:
        lines = "\n".join(outputs(gpus, RANKS / "collectives.py")).splitlines()
        assert not left_files(gpus)
    for line in lines:
        if match := re.match(r"rank\d (\w+) (.*)", line):
            said.setdefault(match[1], []).append(match[2])
    return said


@pytest.mark.parametrize(
    ("check", "rank0", "rank1"),
    [
        ("all_reduce", "[3.0, 30.0]", "[3.0, 30.0]"),
        ("max", "[2.0]", "[2.0]"),
        ("avg", "[4.5]", "[4.5]"),
        ("broadcast", "[7]", "[7]"),
        ("all_gather", "[[0.0, 0.5], [1.0, 1.5]]", "[[0.0, 0.5], [1.0, 1.5]]"),
        ("reduce_scatter", "[3.0]", "[201.0]"),
        ("all_to_all", "[0.0, 10.0]", "[1.0, 11.0]"),
        ("send", "[5.0]", "[5.0]"),
        ("batch", "[21.0]", "[20.0]"),
        ("objects", "[(0, 10), (1, 3010)]", "[(0, 10), (1, 3010)]"),
        ("object_list", "[{'seed': 42}, 'text']", "[{'seed': 42}, 'text']"),
        ("group", "[3.0]", "[3.0]"),
        ("end", "2", "2"),
    ],
)
def test_small_tensors_travel(
    collectives: dict[str, list[str]], check: str, rank0: str, rank1: str
) -> None:
    assert collectives.get(check) == [rank0, rank1]


def test_a_collective_waits_for_the_last_rank_but_the_host_does_not(
    collectives: dict[str, list[str]],
) -> None:
    begun, called, waited = (
        [int(each) for each in collectives[name]] for name in ("begun_ns", "called_ns", "waited_ns")
    )
    assert called[0] < begun[1] < waited[0]
    # By the last rank's GPU: the time of a message, and none of the other's.
    assert float(collectives["device_ms"][0]) > 1e-6 * (begun[1] - called[0])
    assert float(collectives["device_ms"][1]) < 300


def test_an_all_reduce_takes_the_time_of_a_ring(collectives: dict[str, list[str]]) -> None:
    ring_ms = 2 * (1 / 2) * 4 * 2**30 / 300e9 * 1e3
    for seen in collectives["ring_ms"]:
        assert ring_ms * 0.99 < float(seen) < ring_ms * 3


def test_a_model_is_trained_by_torchrun(emulated: Emulated) -> None:
    emulation = emulated(gpus=2)
    said = torchrun(emulation, RANKS / "training.py", "ddp")
    assert "rank0 steps 8" in said
    assert "rank1 steps 8" in said
    assert not left_files(emulation)


@pytest.mark.parametrize("kind", ["fsdp", "fsdp2"])
def test_a_sharded_model_is_trained(kind: str, emulated: Emulated) -> None:
    emulation = emulated(gpus=2)
    said = outputs(emulation, RANKS / "training.py", kind)
    assert ["rank0 steps 8" in said[0], "rank1 steps 8" in said[1]] == [True, True]
    assert not left_files(emulation)


def test_a_model_is_trained_by_spawned_processes(emulated: Emulated) -> None:
    emulation = emulated(gpus=2)
    done = emulation.run(
        PYTHON, RANKS / "training.py", env={"MASTER_PORT": str(free_port())}, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rank0 steps 8" in done.stdout
    assert "rank1 steps 8" in done.stdout


def test_one_process_trains_on_two_gpus(emulated: Emulated) -> None:
    said = emulated(gpus=2).python("""
import time, torch
from torch import nn
net = nn.DataParallel(nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2)).cuda())
loss = net(torch.randn(16, 8, device="cuda")).sum()
loss.backward()
print([parameter.grad.shape for parameter in net.parameters()][0])
parts = [torch.ones(3, device=f"cuda:{i}") for i in range(2)]
torch.cuda.nccl.all_reduce(parts)
torch.cuda.synchronize(0)
time.sleep(1)  # a process that ends while torch starts a thread of its own aborts
print("end")
""")
    assert said.split("\n")[:2] == ["torch.Size([4, 8])", "end"]


OBJECTS_FIRST = """
import torch, torch.distributed as dist
dist.init_process_group("nccl")
rank = dist.get_rank()
sizes = [None, None]
dist.all_gather_object(sizes, "x" * (3 + 100 * rank))
listed = [{"a": 1}, "b", [1, 2, 3]] if rank == 0 else [None] * 3
dist.broadcast_object_list(listed, 0)
own = [None]
dist.scatter_object_list(own, ["for 0", "for 1"] if rank == 0 else [None] * 2, 0)
print([len(each) for each in sizes], listed, own)
dist.destroy_process_group()
"""


def test_the_first_message_may_be_an_object(emulated: Emulated) -> None:
    said = outputs(emulated(gpus=2), OBJECTS_FIRST, CUDA_VISIBLE_DEVICES="RANK")
    assert [out.strip() for out in said] == [
        f"[3, 103] [{{'a': 1}}, 'b', [1, 2, 3]] ['for {rank}']" for rank in range(2)
    ]


SUM_OF_RANKS = """
import torch, torch.distributed as dist
dist.init_process_group("nccl")
tensor = torch.tensor([1.0 + dist.get_rank()]).cuda()
dist.all_reduce(tensor)
print(torch.cuda.device_count(), tensor.item())
dist.destroy_process_group()
"""


def test_two_ranks_on_one_gpu_are_refused(emulated: Emulated) -> None:
    emulation = emulated(gpus=2)
    with two_ranks(emulation, SUM_OF_RANKS, CUDA_VISIBLE_DEVICES="0") as ranks:
        for rank in ranks:
            out, err = rank.communicate(timeout=120)
            assert rank.returncode != 0, out
            assert "invalid usage" in err
    assert not left_files(emulation)


def test_each_rank_sees_its_own_gpu_alone(emulated: Emulated) -> None:
    said = outputs(emulated(gpus=2), SUM_OF_RANKS, CUDA_VISIBLE_DEVICES="RANK")
    assert [out.strip() for out in said] == ["1 3.0"] * 2


HANGS = """
import os, sys, time, torch, torch.distributed as dist
from datetime import timedelta
rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", timeout=timedelta(seconds=float(sys.argv[1])))
tensor = torch.zeros(1, device="cuda")
dist.all_reduce(tensor)
torch.cuda.synchronize()
print(f"rank{rank} talked", flush=True)
if rank == 1:
    time.sleep(float(sys.argv[2]))
    os._exit(0)
"""

ABORTS = """
work = dist.all_reduce(tensor, async_op=True)
time.sleep(1)
print("done early" if torch.cuda.current_stream().query() and work.is_completed() else "hangs",
      flush=True)
dist.distributed_c10d._get_default_group()._get_backend(torch.device("cuda")).abort()
torch.cuda.synchronize()
print("ended", flush=True)
os._exit(0)
"""

WAITS = """
dist.all_reduce(tensor)
torch.cuda.synchronize()
time.sleep(60)
"""


def test_a_hanging_collective_can_be_aborted(emulated: Emulated) -> None:
    with two_ranks(emulated(gpus=2), HANGS + ABORTS, "60", "30") as ranks:
        out, err = ranks[0].communicate(timeout=100)
        assert out.split("\n")[:3] == ["rank0 talked", "hangs", "ended"], out + err


def test_the_watchdog_ends_a_rank_whose_partner_is_gone(emulated: Emulated) -> None:
    started = time.monotonic()
    # Before it aborts it waits for a dump, 15 s unless told otherwise.
    dump = {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "1000"}
    with two_ranks(emulated(gpus=2), HANGS + WAITS, "4", "0", **dump) as ranks:
        out, err = ranks[0].communicate(timeout=100)
        assert "rank0 talked" in out, out + err
        assert ranks[0].returncode != 0
        assert "timeout" in err.lower() or "timed out" in err.lower()
        assert time.monotonic() - started > 4
