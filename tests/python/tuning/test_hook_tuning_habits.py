"""Levers that apply only where a script does something in its first steps."""

import json
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import run_job, run_tuned

JOB = """
import inspect, sys, warnings, torch
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.manual_seed(4)
words = sys.argv[1:]
if "own threads" in words:
    torch.set_num_interop_threads(2)
def half(rows):
    return torch.relu(rows)
class Forks(torch.nn.Module):
    def forward(self, rows):
        task = torch.jit.fork(half, rows)
        return half(rows) + torch.jit.wait(task)
forks = torch.jit.script(Forks()) if "forks" in words else torch.nn.Identity()
model = torch.nn.Sequential(torch.nn.Linear(8, 8), forks, torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
dropped = []
for step in range(8):
    rows = torch.randn(4, 8)
    if "zeros" in words:
        optimizer.zero_grad(set_to_none=False)
    elif "drops" in words:
        model.zero_grad()
    else:
        for parameter in model.parameters():
            parameter.grad = None
    dropped.append(model[0].weight.grad is None)
    model(rows).square().mean().backward()
    optimizer.step()
signature = inspect.signature(optimizer.zero_grad)
print(dropped[-1], torch.get_num_interop_threads(), list(signature.parameters))
"""


def ran(folder: Path, asked: dict[str, Any], *words: str) -> tuple[dict[str, Any], str]:
    said, job = run_tuned(folder, JOB, asked, *words)
    assert job.process.stderr == ""
    return said, job.process.stdout


def with_and_without(
    folder: Path, lever: str, settings: dict[str, Any], *words: str
) -> tuple[str, str]:
    """What the job prints; its results are the same to the last bit."""
    parity = {"steps": 8, "seed": 0}
    without, printed = ran(folder / "without", {"parity": parity, "survey": True}, *words)
    assert without["why_not"][lever] is None
    asked = {"parity": parity, "levers": {lever: settings}}
    found, printed_with = ran(folder / "with", asked, *words)
    assert found["applied"] == [lever]
    assert (found["losses"], found["gradients"]) == (without["losses"], without["gradients"])
    return printed, printed_with


def test_gradients_are_dropped_where_the_script_fills_them_with_zeros(tmp_path: Path) -> None:
    without, found = with_and_without(tmp_path, "set_to_none", {}, "zeros")
    assert without.startswith("False ") and found.startswith("True ")
    assert "['set_to_none']" in without and "['set_to_none']" in found


HEADS = """
import sys, torch
kind = sys.argv[1]
torch.manual_seed(0)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(8, 8)
        self.heads = torch.nn.ModuleList(torch.nn.Linear(8, 1) for _ in range(3))
    def forward(self, rows, step):
        rows = self.body(rows).relu()
        if kind == "heads":
            return self.heads[step % 3](rows)
        if kind == "depth" and step == 5:
            return self.heads[0](rows)
        return sum(head(rows) for head in self.heads)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(8):
    if kind == "frozen" and step == 4:
        model.body.requires_grad_(False)
    optimizer.zero_grad(set_to_none=False)
    model(torch.randn(4, 8), step).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("kind", "is_exact"), [("heads", False), ("depth", False), ("frozen", False), ("all", True)]
)
def test_gradients_are_not_dropped_where_zeros_move_a_parameter(
    tmp_path: Path, kind: str, is_exact: bool
) -> None:
    said, job = run_tuned(tmp_path, HEADS, {"levers": {"set_to_none": {}}}, kind)
    assert job.process.returncode == 0 and not job.errors
    assert (said["applied"] == ["set_to_none"]) is is_exact
    assert ("got no gradient in a step" in said["refused"].get("set_to_none", "")) is not is_exact


@pytest.mark.parametrize(
    ("word", "reason"), [("drops", "to None already"), ("by itself", "no zero_grad() was called")]
)
def test_gradients_are_left_with_a_reason(tmp_path: Path, word: str, reason: str) -> None:
    said, _ = ran(tmp_path, {"survey": True}, word)
    assert reason in said["why_not"]["set_to_none"]


def test_threads_of_forked_tasks_are_set_before_the_first_of_them(tmp_path: Path) -> None:
    without, found = with_and_without(tmp_path, "interop_threads", {"count": 3}, "forks")
    assert " 3 " in found and " 3 " not in without


@pytest.mark.parametrize(
    ("words", "reason"),
    [(["drops"], "nothing forks tasks"), (["forks", "own threads"], "sets their number itself")],
)
def test_forked_tasks_are_left_with_a_reason(tmp_path: Path, words: list[str], reason: str) -> None:
    said, _ = ran(tmp_path, {"survey": True}, *words)
    assert reason in said["why_not"]["interop_threads"]


# Attention that is traced by torch.compile, and read by TorchScript.
COMPILED = """
import warnings, torch
warnings.filterwarnings("ignore")
functional = torch.nn.functional
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.into = torch.nn.Linear(8, 8)
    def forward(self, words):
        words = self.into(words)
        return functional.scaled_dot_product_attention(words, words, words)
model = Net()
graphs = []
def keep(graph, inputs):
    graphs.append([str(node.target) for node in graph.graph.nodes])
    return graph
compiled = torch.compile(model, backend=keep, fullgraph=True)
scripted = torch.jit.script(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    rows = torch.randn(2, 3, 4, 8)
    (compiled(rows) + scripted(rows)).sum().backward()
    optimizer.step()
print(len(graphs), "scaled_dot_product_attention" in str(graphs), scripted.code.count("attention"))
"""


def test_attention_that_is_compiled_is_compiled_as_ever(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COMPILED)
    asked = json.dumps({"survey": True})
    job = run_job(tmp_path, [tmp_path / "train.py"], UNSTARVE_TUNE=asked)
    assert (job.process.returncode, job.errors) == (0, []), job.process.stderr
    assert job.process.stdout == "1 True 1\n"
