"""What a run for parity says of each tensor, of calls and of random generators: harm that a norm of
all gradients hardly shows is there, and two runs of one seed say the same."""

from pathlib import Path
from typing import Any

import pytest
from hook_jobs import run_tuned

# One lever that does harm, by its name; "none" does none.
JOB = """
import copy, random, sys, torch
torch.manual_seed(0)
torch.set_num_threads(1)
harm = sys.argv[1]

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding(32, 16)
        self.frozen = torch.nn.Linear(16, 16).requires_grad_(False)
        self.norm = torch.nn.BatchNorm1d(16)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(16, 16) for _ in range(3))
        self.heads = torch.nn.ModuleList(torch.nn.Linear(16, 2) for _ in range(2))
        self.output = torch.nn.Linear(16, 32, bias=False)
        self.output.weight = self.tokens.weight
        if harm == "tied weights":
            self.output.weight = torch.nn.Parameter(self.tokens.weight.detach().clone())
    def forward(self, words, step):
        rows = self.norm(self.frozen(self.tokens(words)).relu())
        rows = rows + self.experts[0 if harm == "experts" else step % 3](rows)
        head = self.heads[0 if harm == "heads" else step % 2]
        return self.output(rows), head(rows)

model = Model()
average = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(12):
    words = torch.randint(32, (16,))
    if step == 8 and harm != "thaws":
        model.frozen.requires_grad_(True)
    if harm == "generators":
        random.random()
    if harm == "calls":
        model(words, step)
    given = words[:8] if harm == "texts" else words
    next_words, kinds = model(given, step)
    loss = torch.nn.functional.cross_entropy(next_words, given)
    loss = loss + torch.nn.functional.cross_entropy(kinds, given % 2)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e3 if harm == "clipping" else 0.1)
    optimizer.step()
    if harm != "average":
        with torch.no_grad():
            for kept, now in zip(average.parameters(), model.parameters()):
                kept.lerp_(now, 0.1)
"""
PARITY = {"parity": {"steps": 10, "seed": 0}}


def said_of(folder: Path, harm: str) -> dict[str, Any]:
    return run_tuned(folder, JOB, PARITY, harm)[0]


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return said_of(tmp_path_factory.mktemp("states"), "none")


def test_each_tensor_is_recorded_and_the_same_in_each_run(
    tmp_path: Path, as_it_is: dict[str, Any]
) -> None:
    tensors = as_it_is["tensors"]
    assert tensors == said_of(tmp_path, "none")["tensors"]
    head = tensors["heads.1.weight"]
    assert head["numbers"] == 32 and head["gradients"] == "02" * 5
    assert head["begins"] > 0 and head["pull"] > 0 and len(head["early"]) == 8 and head["end"] > 0
    assert tensors["experts.2.weight"]["gradients"] == "0020020020"
    assert tensors["frozen.weight"]["gradients"] == "0000000022"
    assert not any(tensors["frozen.weight"]["early"]) and tensors["frozen.weight"]["end"] > 0
    assert "output.weight" not in tensors, "it is tokens.weight"
    assert {"norm.running_mean", "tokens.weight: exp_avg", "heads.0.bias: step"} < set(tensors)
    assert tensors["Model 1 beside it: tokens.weight"]["end"] > 0
    assert as_it_is["calls"] == [1] * 10 and as_it_is["numbers"] == [16] * 10
    assert {"torch", "python"} <= set(as_it_is["generators"])


@pytest.mark.parametrize(
    ("harm", "tensor", "fact"),
    [
        ("heads", "heads.1.weight", "gradients"),
        ("heads", "heads.1.weight", "end"),
        ("experts", "experts.2.weight", "gradients"),
        ("thaws", "frozen.weight", "gradients"),
        ("thaws", "frozen.weight", "end"),
        ("clipping", "tokens.weight", "pull"),
        ("average", "Model 1 beside it: tokens.weight", "end"),
    ],
)
def test_harm_to_one_tensor_is_there(
    tmp_path: Path, as_it_is: dict[str, Any], harm: str, tensor: str, fact: str
) -> None:
    said = said_of(tmp_path, harm)
    assert said["tensors"][tensor].get(fact) != as_it_is["tensors"][tensor].get(fact)


def test_weights_that_are_tied_no_more_are_two(tmp_path: Path, as_it_is: dict[str, Any]) -> None:
    more = set(said_of(tmp_path, "tied weights")["tensors"]) - set(as_it_is["tensors"])
    assert "output.weight" in more


@pytest.mark.parametrize(
    ("harm", "fact"), [("generators", "generators"), ("calls", "calls"), ("texts", "numbers")]
)
def test_harm_to_what_is_drawn_and_called_is_there(
    tmp_path: Path, as_it_is: dict[str, Any], harm: str, fact: str
) -> None:
    assert said_of(tmp_path, harm)[fact] != as_it_is[fact]


SEVERAL = """
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
first, second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
optimizers = [torch.optim.SGD(one.parameters(), lr=0.1, momentum=0.9) for one in (first, second)]
for step in range(12):
    for optimizer in optimizers:
        optimizer.zero_grad()
    second(first(torch.randn(8, 4)).relu()).square().mean().backward()
    for optimizer in optimizers:
        optimizer.step()
"""


def test_of_two_optimizers_each_has_its_own_updates(tmp_path: Path) -> None:
    tensors = run_tuned(tmp_path, SEVERAL, PARITY)[0]["tensors"]
    found = {name: one["gradients"] for name, one in tensors.items() if one.get("gradients")}
    assert set(found.values()) == {"2-2-2-2-2", "-2-2-2-2-2"}


BY_HAND = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
for step in range(12):
    model(torch.randn(8, 4)).square().mean().backward()
    with torch.no_grad():
        for one in model.parameters():
            one -= 0.1 * one.grad
            one.grad = None
"""


def test_of_an_optimizer_by_hand_the_weights_are_seen(tmp_path: Path) -> None:
    tensors = run_tuned(tmp_path, BY_HAND, PARITY)[0]["tensors"]
    assert tensors["weight"]["gradients"] == "2" * 10 and tensors["weight"]["end"] > 0
