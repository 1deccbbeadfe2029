"""Levers of models of timm and transformers: what they compute stays, what changes is shown."""

from pathlib import Path
from typing import Any

import pytest
from hook_jobs import run_tuned

# How many bytes autograd keeps for the backward pass, and what a training computes.
JOB = """
import sys, warnings, torch
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.manual_seed(4)
{model}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = 0
def keep(tensor):
    global kept
    kept += tensor.nbytes
    return tensor
for step in range(6):
    kept = 0
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = loss_of(model)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(getattr(getattr(model, "config", None), "_attn_implementation", None), kept)
"""
VIT = """
import timm
model = timm.create_model("vit_tiny_patch16_224", img_size=32, num_classes=4, drop_rate=0.1)
images = torch.randn(4, 3, 32, 32)
def loss_of(model):
    return torch.nn.functional.cross_entropy(model(images), torch.arange(4))
"""
GPT = """
from transformers import GPT2Config, GPT2LMHeadModel
config = GPT2Config(
    vocab_size=50, n_positions=16, n_embd=32, n_layer=3, n_head=2, attn_pdrop=0.0)
config._attn_implementation = "eager"
model = GPT2LMHeadModel(config).train()
words = torch.randint(50, (4, 16))
def loss_of(model):
    return model(input_ids=words, labels=words).loss
"""


def ran(folder: Path, model: str, asked: dict[str, Any]) -> tuple[dict[str, Any], str]:
    said, job = run_tuned(folder, JOB.format(model=model), asked)
    return said, job.process.stdout


def with_and_without(folder: Path, model: str, lever: str) -> tuple[dict[str, Any], ...]:
    parity = {"steps": 6, "seed": 0}
    without, kept = ran(folder / "without", model, {"parity": parity, "survey": True})
    assert without["why_not"][lever] is None
    found, kept_with = ran(folder / "with", model, {"parity": parity, "levers": {lever: {}}})
    assert found["applied"] == [lever]
    for said, printed in ((without, kept), (found, kept_with)):
        said["attention"], kept_bytes = printed.split()
        said["kept_bytes"] = int(kept_bytes)
    return without, found


@pytest.mark.slow
@pytest.mark.parametrize("model", [VIT, GPT])
def test_checkpointing_keeps_less_and_computes_the_same(tmp_path: Path, model: str) -> None:
    without, found = with_and_without(tmp_path, model, "gradient_checkpointing")
    assert found["losses"] == without["losses"], "dropout draws the same numbers again"
    assert found["gradients"] == pytest.approx(without["gradients"], rel=1e-6)
    assert found["kept_bytes"] < without["kept_bytes"] / 2


@pytest.mark.slow
def test_the_attention_of_transformers_is_the_fused_one_and_computes_the_same(
    tmp_path: Path,
) -> None:
    without, found = with_and_without(tmp_path, GPT, "hf_sdpa")
    assert (without["attention"], found["attention"]) == ("eager", "sdpa")
    assert found["losses"] == pytest.approx(without["losses"], rel=1e-4)
    assert found["gradients"] == pytest.approx(without["gradients"], rel=1e-3)
    assert found["kept_bytes"] < without["kept_bytes"], "no matrix of words by words"


NO_CHECKPOINTS = {
    "offers none": """
model = torch.nn.Linear(4, 4)
def loss_of(model):
    return model(torch.ones(2, 4)).sum()
""",
    "count each batch twice": """
import timm
model = timm.create_model("resnet18", num_classes=4)
def loss_of(model):
    return model(torch.ones(2, 3, 32, 32)).sum()
""",
    "timm has none for a ConVit": """
import timm
model = timm.create_model("convit_tiny", num_classes=4)
def loss_of(model):
    return model(torch.ones(1, 3, 224, 224)).sum()
""",
    "checkpoints already": VIT + "model.set_grad_checkpointing()\n",
    "evaluation mode": GPT + "model.eval()\n",
}


@pytest.mark.parametrize("reason", NO_CHECKPOINTS)
def test_checkpointing_is_refused_with_a_reason(tmp_path: Path, reason: str) -> None:
    said, _ = ran(tmp_path / "run", NO_CHECKPOINTS[reason], {"survey": True})
    assert reason in said["why_not"]["gradient_checkpointing"]


NO_ATTENTION = {
    "is none of transformers": VIT,
    "is 'sdpa' and not 'eager'": GPT.replace('"eager"', '"sdpa"'),
    "the attention's weights": GPT + "config.output_attentions = True\n",
}


@pytest.mark.parametrize("reason", NO_ATTENTION)
def test_attention_is_left_with_a_reason(tmp_path: Path, reason: str) -> None:
    said, _ = ran(tmp_path / "run", NO_ATTENTION[reason], {"survey": True})
    assert reason in said["why_not"]["hf_sdpa"]
    for end in ("flash", "efficient", "math", "cudnn"):
        assert said["why_not"][f"sdpa_{end}"].startswith("on a CPU torch chooses")
