"""What a run for parity records of the first gradient, and what a survey sees of a step's time."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from hook_jobs import hook_module, run_job, run_tuned

JOB = """
import sys, torch
torch.manual_seed(4)
torch.set_num_threads(1)
words = sys.argv[1:]
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(64, 64)
        self.drop = torch.nn.Dropout(0.2)
    def forward(self, rows):
        return rows + self.drop(torch.relu(self.body(rows)))
model = torch.nn.Sequential(*[Block() for _ in range(3)], torch.nn.Linear(64, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", enabled="scaled" in words)
for step in range(10):
    profiles = "profiles" in words and step == 3
    if profiles:
        own = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        own.start()
    fewer = step % 2 if "uneven" in words else step == 8 if "epoch" in words else 0
    rows = torch.randn(16 - fewer, 64)
    loss = torch.nn.functional.cross_entropy(model(rows), torch.arange(len(rows)) % 10)
    if "overflows" in words and step % 2:
        loss = loss * 1e36
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if profiles:
        own.stop()
        assert any("addmm" in event.name for event in own.events())
    if "ends" in words and step == 3:
        break
print(model[-1].weight.dtype)
"""


def ran(folder: Path, asked: dict[str, Any], *words: str, **more: Any) -> dict[str, Any]:
    said, job = run_tuned(folder, JOB, asked, *words, **more)
    if "compile_regions" not in asked.get("levers", {}):  # torch's compiler has warnings of its own
        assert job.process.stderr == ""
    return said


def away(ours: list[float], theirs: list[float]) -> float:
    return math.dist(ours, theirs) / math.hypot(*theirs)


class Named(NamedTuple):
    loss: torch.Tensor
    rows: list[torch.Tensor]


PARITY = {"parity": {"steps": 5, "seed": 0}}


def test_the_first_gradient_is_recorded_as_a_whole(tmp_path: Path) -> None:
    said = ran(tmp_path / "a", PARITY)
    sketch, length = said["sketch"], said["gradients"][0]
    # A sketch of 256 sums is as long as what it is of, give or take a tenth.
    assert len(sketch) == 256 and math.hypot(*sketch) == pytest.approx(length, rel=0.3)
    other = ran(tmp_path / "b", {"parity": {"steps": 5, "seed": 1}})["sketch"]
    assert away(other, sketch) > 0.5, "another seed has another gradient"
    precise = ran(tmp_path / "c", {**PARITY, "levers": {"float64": {}}})
    assert precise["applied"] == ["float64"]
    assert 0 < away(sketch, precise["sketch"]) < 1e-5, "float32 rounds, and draws the same numbers"
    rough = ran(tmp_path / "d", {**PARITY, "levers": {"bf16_autocast": {}}})["sketch"]
    assert 1e-4 < away(rough, precise["sketch"]) < 0.1


def test_without_a_loader_the_model_s_rows_are_the_samples(tmp_path: Path) -> None:
    for name, word, known in (("a", "", 16), ("b", "epoch", 16), ("c", "uneven", 0)):
        said = ran(tmp_path / name, {}, word)
        assert (said["called_with"], said["input_numbers"]) == (known, 64 * known), word


def test_gradients_that_are_scaled_are_recorded_without_the_factor(tmp_path: Path) -> None:
    plain = ran(tmp_path / "a", PARITY)
    asked: list[tuple[str, dict[str, Any]]] = [("b", {}), ("c", {"fused_optimizer": {}})]
    for name, levers in asked:
        scaled = ran(tmp_path / name, {**PARITY, "levers": levers}, "scaled")
        assert scaled["gradients"] == pytest.approx(plain["gradients"], rel=1e-3), name
        assert away(scaled["sketch"], plain["sketch"]) < 1e-3, name


@pytest.mark.parametrize("levers", [{}, {"fused_optimizer": {}}])
def test_steps_that_a_scaler_leaves_out_are_counted(tmp_path: Path, levers: dict[str, Any]) -> None:
    assert ran(tmp_path / "a", {"levers": levers}, "scaled")["skipped"] == 0
    assert ran(tmp_path / "b", {"levers": levers}, "scaled", "overflows")["skipped"] == 5


def test_blocks_are_compiled_and_draw_what_eager_mode_draws(tmp_path: Path) -> None:
    eager = ran(tmp_path / "a", {**PARITY, "survey": True})
    assert eager["why_not"]["compile_regions"] is None
    compiled = ran(tmp_path / "b", {**PARITY, "levers": {"compile_regions": {}}})
    assert compiled["applied"] == ["compile_regions"] and compiled["graphs"]
    assert compiled["losses"] == pytest.approx(eager["losses"], rel=1e-5)


def test_a_survey_tells_what_a_step_takes_its_time_for(tmp_path: Path) -> None:
    shares = ran(tmp_path, {"survey": True})["shares"]
    assert set(shares) == {"products", "optimizer", "zeroing", "system"}
    assert 0 < shares["products"] + shares["optimizer"] + shares["zeroing"] <= 1
    assert shares["optimizer"] > 0 and 0 <= shares["system"] < 1


# Where it is set, torch raises an error if its older switches are asked.
NEWER_SWITCH = JOB.replace(
    "torch.set_num_threads(1)",
    "torch.set_num_threads(1); torch.backends.mkldnn.matmul.fp32_precision = 'bf16'",
)


def test_a_precision_that_is_set_by_the_newer_switch_is_one(tmp_path: Path) -> None:
    said, _ = run_tuned(tmp_path, NEWER_SWITCH, {"survey": True})
    assert said["why_not"]["matmul_precision"] == "the script has set a precision already"


@pytest.mark.parametrize("word", ["profiles", "ends"])
def test_a_step_that_is_not_seen_whole_tells_no_shares(tmp_path: Path, word: str) -> None:
    """The job profiles itself meanwhile, or ends."""
    said = ran(tmp_path, {"survey": True}, word, KINETO_LOG_LEVEL="99")
    assert set(said["shares"]) == {"system"} if word == "profiles" else said["shares"]


TWO_OPTIMIZERS = """
import torch
torch.set_num_threads(1)
first, second = torch.nn.Linear(1024, 1024), torch.nn.Linear(8, 8)
optimizers = [torch.optim.SGD(model.parameters(), lr=1e-3) for model in (first, second)]
for _ in range(6):
    for model, rows in ((first, torch.randn(1024, 1024)), (second, torch.randn(4, 8))):
        optimizer = optimizers[model is second]
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
"""


def test_under_autocast_results_keep_their_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    half = torch.zeros(2, 2, dtype=torch.bfloat16)
    with hook_module("tuning.levers.autocast", monkeypatch) as autocast:
        named = autocast.in_float32(Named(half, [half]), torch.bfloat16)
        greatest = autocast.in_float32(half.max(dim=1), torch.bfloat16)
        plain = autocast.in_float32((half, 1), torch.bfloat16)
    assert type(named) is Named
    assert (named.loss.dtype, named.rows[0].dtype) == (torch.float32, torch.float32)
    assert type(greatest) is torch.return_types.max
    assert greatest.values.dtype is torch.float32
    assert type(plain) is tuple and plain[0].dtype is torch.float32


def test_of_two_optimizers_a_step_goes_from_one_to_the_same_again(tmp_path: Path) -> None:
    """The products are all in the first one's half, which comes behind the other's."""
    (tmp_path / "train.py").write_text(TWO_OPTIMIZERS)
    job = run_job(tmp_path, [tmp_path / "train.py"], UNSTARVE_TUNE=json.dumps({"survey": True}))
    assert (job.process.returncode, job.errors) == (0, [])
    shares = json.loads((tmp_path / "tune.json").read_text())["shares"]
    assert shares["products"] > 0.3 and shares["optimizer"] > 0


def test_another_allocator_is_seen_to_be_there(tmp_path: Path) -> None:
    (library,) = Path("/usr/lib").glob("*-linux-gnu/libjemalloc.so.2")
    asked = {"levers": {"jemalloc": {"set": True}, "kept_memory": {"set": True}}}
    said = ran(tmp_path / "with", asked, LD_PRELOAD=str(library))
    assert said["applied"] == ["jemalloc"]
    assert said["refused"] == {"kept_memory": "the job allocates by jemalloc"}
    said = ran(tmp_path / "without", asked)
    assert said["refused"]["jemalloc"] == "the library was not loaded"


# On the CPU nothing of others is applied, and no GPU is here: their modules are made up.
KERNELS = """
import sys, types, torch
class PreTrainedModel(torch.nn.Linear):
    config = types.SimpleNamespace(model_type=sys.argv[1])
model = PreTrainedModel(4, 2)
sys.path.insert(0, sys.argv[2])
from _unstarve_hook.tuning.levers import others_kernels as kernels
from _unstarve_hook.tuning.refusal import LeverRefusedError
job = types.SimpleNamespace(device="cuda", root=model, infers=False)
for lever in (kernels.liger, kernels.hub_kernels):
    try:
        lever.check(job, {})
        lever.apply(job, {})
        print("applied", model.by)
    except LeverRefusedError as refused:
        print("refused", refused)
"""
LIGER = """
def _apply_liger_kernel_to_instance(model):
    model.by = "liger"
MODEL_TYPE_TO_APPLY_LIGER_FN = {"llama": None}
"""
HUB = """
class Mode:
    TRAINING = "training"
def kernelize(model, *, mode, device):
    model.by = (mode, device)
"""


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("llama", ["applied liger", "refused no layer of the model says that a kernel may"]),
        ("other", ["refused it has none for a PreTrainedModel", "refused no layer"]),
    ],
)
def test_kernels_of_others_are_put_into_models_of_transformers(
    tmp_path: Path, model: str, said: list[str]
) -> None:
    folder = tmp_path / "liger_kernel/transformers"
    folder.mkdir(parents=True)
    (tmp_path / "liger_kernel/__init__.py").write_text("")
    (folder / "__init__.py").write_text("")
    (folder / "monkey_patch.py").write_text(LIGER)
    (tmp_path / "kernels.py").write_text(HUB)
    (tmp_path / "job.py").write_text(KERNELS)
    hook = Path(__file__).resolve().parents[3] / "python/unstarve/hook"
    done = subprocess.run(
        [sys.executable, str(tmp_path / "job.py"), model, str(hook)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True)), lines


# transformers' Trainer hides what is not finite from the losses that it logs (the default of
# logging_nan_inf_filter), so that a run that diverged looks as if it had not.
TRAINER = """
import sys, torch, transformers, warnings
warnings.filterwarnings("ignore")
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 2)
        self.calls = 0
    def forward(self, rows, labels):
        self.calls += 1
        loss = torch.nn.functional.cross_entropy(self.head(rows), labels)
        return {"loss": loss * (float("inf") if self.calls == 4 else 1.0)}
rows = [{"rows": torch.ones(4), "labels": 1} for _ in range(32)]
arguments = transformers.TrainingArguments(
    sys.argv[1], max_steps=6, logging_steps=1, per_device_train_batch_size=4, report_to=[],
    save_strategy="no", use_cpu=True, disable_tqdm=True)
trainer = transformers.Trainer(Net(), arguments, train_dataset=rows)
trainer.train()
print([entry["loss"] for entry in trainer.state.log_history if "loss" in entry])
"""


def test_a_loss_that_a_trainer_hides_from_its_log_is_seen(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINER)
    words = [tmp_path / "train.py", tmp_path / "out"]
    job = run_job(tmp_path, words, UNSTARVE_TUNE=json.dumps(PARITY))
    assert (job.process.returncode, job.errors) == (0, [])
    logged = job.process.stdout.splitlines()[-1]
    assert "inf" not in logged and "nan" not in logged, logged
    said = json.loads((tmp_path / "tune.json").read_text())
    assert said["losses"][3] == "inf", said["losses"]


ACCELERATE = """
import sys, torch
from accelerate.accelerator import Accelerator
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if "uses" in sys.argv:
    model, optimizer = Accelerator(cpu=True).prepare(model, optimizer)
for step in range(4):
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("word", "trainer"), [("uses", "accelerate"), ("imports", "")])
def test_accelerate_is_named_where_the_script_uses_it(
    tmp_path: Path, word: str, trainer: str
) -> None:
    (tmp_path / "train.py").write_text(ACCELERATE)
    job = run_job(tmp_path, [tmp_path / "train.py", word], UNSTARVE_TUNE="{}")
    assert (job.process.returncode, job.errors) == (0, [])
    assert json.loads((tmp_path / "tune.json").read_text())["job"]["trainer"] == trainer
