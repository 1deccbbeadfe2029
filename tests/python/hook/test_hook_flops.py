"""Operations are counted by the shapes of products, and the job's results stay what they are."""

import json
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import HOOK, environment, run_job, run_python

JOB = """
import hashlib, sys, torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, groups=1), nn.ReLU(),
                      nn.Conv2d(8, 16, 3, stride=2, groups=4), nn.ConvTranspose2d(16, 4, 2, 2),
                      nn.Flatten(), nn.Linear(4 * 14 * 14, 10))
optimizer = torch.optim.Adam(model.parameters())
images = torch.randn(4, 3, 16, 16)
for step in range(int(sys.argv[1])):
    if sys.argv[2] == "profiled" and step == 3:
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        profiler.start()
    if sys.argv[2] == "observed" and step == 0:
        observer = torch.profiler.ExecutionTraceObserver()
        observer.register_callback("/dev/null")
    optimizer.zero_grad()
    model(images).square().mean().backward()
    optimizer.step()
if sys.argv[2] == "profiled":  # torch crashes at its end where one is left open
    profiler.stop()
weights = b"".join(each.detach().numpy().tobytes() for each in model.parameters())
print(hashlib.sha256(weights).hexdigest())
"""

#: 2 operations for each number of the result and of a filter, backward for weights and for inputs,
#: but for the images' own gradient.
FIRST = 2 * 4 * 8 * 16 * 16 * 3 * 9
SECOND = 2 * 4 * 16 * 7 * 7 * 2 * 9
SPREAD = 2 * 4 * 16 * 7 * 7 * 4 * 4
LAST = 2 * 4 * (4 * 14 * 14) * 10
ALL = 2 * FIRST + 3 * (SECOND + SPREAD + LAST)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text(JOB)
    return path


def counted(folder: Path, script: Path, *words: str, asked: bool = True) -> tuple[Any, str]:
    """What the ring says of operations, and what the job printed."""
    arguments = [script, *words]
    job = run_job(folder, arguments, UNSTARVE_FLOPS="1") if asked else run_job(folder, arguments)
    assert job.process.returncode == 0, job.process.stderr
    assert job.errors == []
    assert "Trace Observer" not in job.process.stderr, "torch's log is no part of the output"
    assert not list(folder.glob(".flops-*")), "what was recorded is gone"
    return job.main.text.get("flops"), job.process.stdout


def test_each_product_counts_and_results_stay(script: Path, tmp_path: Path) -> None:
    plain = run_python([script, "9", "plain"], environment())
    flops, printed = counted(tmp_path / "run", script, "9", "plain")
    assert printed == plain.stdout
    assert flops["kinds"] == {"float32": ALL}
    assert flops["step"] == 5
    assert flops["device"] == "cpu"
    # Where the system says how large the caches are it is what is taken off.
    assert ("beyond_cache_bytes" in flops) == (flops["cache_bytes"] > 0)
    assert flops["operand_bytes"] > 4 * 4 * 3 * 16 * 16
    assert "not_counted" not in flops


def test_nothing_is_counted_unasked(script: Path, tmp_path: Path) -> None:
    assert counted(tmp_path, script, "9", "plain", asked=False)[0] is None


@pytest.mark.parametrize(
    ("steps", "how", "why"),
    [
        ("5", "plain", "the job took fewer than 6 steps"),
        ("9", "profiled", "the job was profiling itself"),
    ],
)
def test_why_nothing_was_counted_is_said(
    script: Path, tmp_path: Path, steps: str, how: str, why: str
) -> None:
    assert counted(tmp_path, script, steps, how)[0] == {"refused": why}


def test_a_jobs_own_observer_is_left_alone(script: Path, tmp_path: Path) -> None:
    flops, _ = counted(tmp_path, script, "9", "observed")
    assert flops == {"refused": "the job has an ExecutionTraceObserver of its own"}


COUNT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from _unstarve_hook.flops import counting
print(json.dumps(counting.count(json.loads(sys.argv[2]), json.loads(sys.argv[3]), "cuda")))
"""


def tensor(storage: int, shape: list[int], strides: list[int], kind: str = "c10::Half") -> Any:
    numel = 1
    for size in shape:
        numel *= size
    return [1, storage, 0, numel, 2, "cuda:0"], shape, f"Tensor({kind})", strides


def node(number: int, name: str, taken: list[Any], given: list[Any], parent: int = 1) -> Any:
    keys = ("values", "shapes", "types", "strides")
    sides = {
        side: {key: [tensor[place] for tensor in each] for place, key in enumerate(keys)}
        for side, each in (("inputs", taken), ("outputs", given))
    }
    return {"id": number, "name": name, "ctrl_deps": parent, **sides}


def count(nodes: list[Any], **facts: Any) -> Any:
    done = run_python(["-c", COUNT, HOOK, json.dumps(nodes), json.dumps(facts)], environment())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_operands_count_once_and_views_not_at_all() -> None:
    big = tensor(1, [1000, 1000], [1000, 1])  # 2 MB
    row = tensor(2, [1000, 1000], [0, 1])  # one row, spread: 2 kB
    result = tensor(3, [1000, 1000], [1000, 1])
    found = count(
        [
            node(1, "train", [], [], 0),
            node(2, "aten::add", [big, row], [result]),
            node(3, "aten::empty", [], [result], 2),
            node(4, "aten::view", [big], [tensor(1, [1000000], [1])]),
            node(5, "aten::mul_", [big, big], [big]),
        ],
        cache_bytes=1_500_000,
    )
    assert found["operand_bytes"] == (2_002_000 + 2_000_000) + (2_000_000 + 2_000_000)
    assert found["beyond_cache_bytes"] == 502_000 + 500_000 + 500_000 + 500_000
    assert found["kinds"] == {}


def test_attention_is_halved_where_it_is_causal_and_products_within_count_once() -> None:
    query = tensor(1, [2, 8, 128, 64], [65536, 8192, 64, 1])
    plain: list[Any] = [[value, [], kind, []] for value, kind in ((0.0, "Double"), (True, "Bool"))]
    inner = tensor(4, [128, 64], [64, 1])
    found = count(
        [
            node(1, "train", [], [], 0),
            node(2, "aten::_scaled_dot_product_flash_attention", [query] * 3 + plain, [query]),
            node(3, "aten::mm", [inner, inner], [inner], 2),
        ]
    )
    assert found["kinds"] == {"float16": 2 * 2 * (2 * 8 * 128 * 128 * 64) // 2}
    assert found["products"] == 1


def test_what_has_no_formula_is_named() -> None:
    half = tensor(1, [64, 64], [64, 1])
    found = count(
        [
            node(1, "Torch-Compiled Region: 0/0", [], [], 0),
            node(2, "flash_attn::_flash_attn_forward", [half], [half]),
            node(3, "aten::_cudnn_rnn", [half], [half]),
            node(4, "mine::layer", [half], [half]),
            node(5, "aten::mm", [half, half], [half], 4),
        ]
    )
    assert set(found["not_counted"]) == {"flash_attn::_flash_attn_forward", "aten::_cudnn_rnn"}
    assert found["compiled"] is True
    assert found["kinds"] == {"float16": 2 * 64**3}


def test_tf32_is_told_by_torchs_switches() -> None:
    single = tensor(1, [64, 64], [64, 1], "float")
    nodes = [node(1, "train", [], [], 0), node(2, "aten::mm", [single, single], [single])]
    assert count(nodes, tf32_products=True)["kinds"] == {"tf32": 2 * 64**3}
    assert count(nodes, tf32_products=False)["kinds"] == {"float32": 2 * 64**3}


# Each way of a script to say that products of float32 may be rounded, or may not.
SWITCHES = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from _unstarve_hook.float32 import precision
exec(sys.argv[2])
print(precision(torch, "cuda", "matmul"), precision(torch, "mkldnn", "matmul"))
"""


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", "none none"),
        ("torch.backends.cuda.matmul.allow_tf32 = True", "tf32 none"),
        ("torch.set_float32_matmul_precision('high')", "tf32 tf32"),
        ("torch.set_float32_matmul_precision('medium')", "tf32 bf16"),
        ("torch.backends.cuda.matmul.fp32_precision = 'tf32'", "tf32 none"),
        ("torch.backends.fp32_precision = 'tf32'", "tf32 tf32"),
        ("torch.backends.cuda.matmul.fp32_precision = 'ieee'", "ieee none"),
        ("torch.backends.mkldnn.matmul.fp32_precision = 'bf16'", "none bf16"),
    ],
)
def test_tf32_is_read_by_older_and_newer_switches(setting: str, expected: str) -> None:
    done = run_python(["-c", SWITCHES, HOOK, setting], environment())
    assert done.stdout.strip() == expected, done.stderr


def test_of_what_is_gathered_or_written_over_no_more_is_read() -> None:
    table, rows = tensor(1, [1000, 100], [100, 1]), tensor(2, [10, 100], [100, 1])
    where = tensor(3, [10], [1], "long int")
    found = count(
        [
            node(1, "train", [], [], 0),
            node(2, "aten::embedding", [table, where], [rows]),  # 2000 + 20 read, 2000 written
            node(3, "aten::copy_", [table, table], [table]),  # once
            node(4, "aten::zero_", [rows], [rows]),  # 2000 written
            node(5, "aten::index_add_", [table, where, rows], [table]),  # twice, and what is added
        ]
    )
    touched = 20 + 2000
    assert found["operand_bytes"] == (
        (2000 + 20 + 2000) + 2 * 200_000 + 2000 + (touched + touched + touched)
    )


LSTM = """
import torch
torch.set_num_threads(1)
model = torch.nn.LSTM(8, 16, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    optimizer.zero_grad()
    model(torch.randn(5, 3, 8))[0].sum().backward()
    optimizer.step()
"""


def test_recurrent_layers_of_onednn_are_counted(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(LSTM)
    flops, _ = counted(tmp_path / "run", script)
    # Four gates meet the inputs and the states, backward twice.
    assert flops["kinds"] == {"float32": 3 * 2 * 5 * 3 * (4 * 16) * ((8 + 16) + (16 + 16))}
    assert flops["threads"] == 1


CACHES = """
import json, sys
sys.path.insert(0, sys.argv[1])
from _unstarve_hook.flops import caches
print(caches.all_caches_bytes(sys.argv[2]))
"""


def test_each_cache_of_the_cpu_counts_once(tmp_path: Path) -> None:
    def cache(cpu: int, index: int, *facts: str) -> None:
        folder = tmp_path / f"cpu{cpu}/cache/index{index}"
        folder.mkdir(parents=True)
        for name, fact in zip(("level", "type", "shared_cpu_list", "size"), facts, strict=True):
            (folder / name).write_text(fact + "\n")

    def found(folder: Path) -> int:
        done = run_python(["-c", CACHES, HOOK, str(folder)], environment())
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    (tmp_path / "cpufreq").mkdir()
    for cpu in (0, 1):
        cache(cpu, 0, "1", "Data", str(cpu), "32K")
        cache(cpu, 1, "1", "Instruction", str(cpu), "32K")
        cache(cpu, 2, "2", "Unified", str(cpu), "1M")
        cache(cpu, 3, "3", "Unified", "0-1", "32768K")
        cache(cpu, 4, "4", "Unified", str(cpu), "odd")
    assert found(tmp_path) == 2 * (32 << 10) + 2 * (1 << 20) + (32 << 20)
    assert found(tmp_path / "nowhere") == 0
