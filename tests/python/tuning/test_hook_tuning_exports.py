"""Models that their script compiles, scripts or exports while `unstarve tune` watches them."""

from pathlib import Path

import pytest
from hook_jobs import run_tuned

EXPORTS = """
import copy, torch
torch.manual_seed(4)
parts = [torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU()) for _ in range(3)]
model = torch.nn.Sequential(*parts)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
rows = torch.randn(8, 16)

def train():
    optimizer.zero_grad()
    model(rows).square().mean().backward()
    optimizer.step()

def plain():
    with torch.no_grad():
        return parts[2](parts[1](parts[0](rows)))

def scripted_class():
    Number = float

    class Scaled:
        def __init__(self, times: Number) -> None:
            self.times = times

    torch.jit.script(Scaled, None)
    return torch.jit.script(Scaled)(2.0).times

for step in range(3):
    train()
with torch.no_grad():
    assert torch.equal(torch.jit.script(model)(rows), plain())
    assert torch.equal(torch.jit.trace(model, rows)(rows), plain())
    assert torch.equal(torch.jit.trace(example_inputs=rows, func=model)(rows), plain())
    assert torch.equal(torch.jit.trace(model.forward, rows)(rows), plain())
    assert torch.equal(torch.export.export(model, (rows,)).module()(rows), plain())
    assert torch.equal(copy.deepcopy(model)(rows), plain())
train()
assert scripted_class() == 2.0
assert type(vars(model)["forward"]).__name__ == "Forward"
"""


@pytest.mark.parametrize("lever", ["bf16_autocast", "compile_regions"])
def test_a_model_is_exported_as_it_was_written(tmp_path: Path, lever: str) -> None:
    said = run_tuned(tmp_path, EXPORTS, {"levers": {lever: {}}})[0]
    assert (said["applied"], said["steps"]) == ([lever], 4), said["refused"]


COMPILES = """
import torch
torch.manual_seed(4)
def counted(graph, inputs):
    return graph.forward
model = torch.compile(torch.nn.Linear(16, 4), backend=counted)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for length in (8, 8, 8, 9, 10, 11, 12):
    optimizer.zero_grad()
    model(torch.randn(length, 16)).square().mean().backward()
    optimizer.step()
"""


def test_steps_that_compile_are_told_with_their_times(tmp_path: Path) -> None:
    said, job = run_tuned(tmp_path, COMPILES, {"levers": {}})
    assert [graph[:2] for graph in said["graphs"]] == [[1, 1], [4, 2]]
    steps = job.main.of("step")
    for step, _, began, ended in said["graphs"][1:]:
        of_run = steps[step - 1]
        shared = min(ended, of_run["end_ns"]) - max(began, of_run["start_ns"])
        assert shared > 0.9 * (of_run["end_ns"] - of_run["start_ns"])
