"""What slows a job on a GPU now and then, and frameworks that are not PyTorch."""

from pathlib import Path

from hook_jobs import run_fresh_job, run_job

COMPILING = """
import torch
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def scaled(x):
    return (x * 2 + x.shape[0]).sum()
fast = torch.compile(scaled, backend="eager", dynamic=False)
for step in range(12):
    fast(model(torch.ones(4 + step // 4, 8))).backward()
    optimizer.step()
    torch.cuda.empty_cache()
print(torch.cuda.empty_cache.__name__)
"""


def test_compilations_and_emptied_caches_are_recorded(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(COMPILING)
    job = run_fresh_job(tmp_path, [script])  # it imports torch's compiler
    assert job.process.returncode == 0, job.process.stderr
    assert job.process.stdout == "empty_cache\n"
    kinds = [record["kind"] for record in job.main.of("host_work") if record["kind"] > 1]
    assert kinds.count(2) == 12
    # The first of the three was no recompilation.
    assert kinds.count(6) == 2
    places = job.main.text["host_work_places"]
    assert places["2"].endswith("train.py:11")
    assert places["6"].endswith("train.py:5")
    assert not job.errors


def test_a_job_of_another_framework_says_so(tmp_path: Path) -> None:
    (tmp_path / "jax.py").write_text("")
    script = tmp_path / "train.py"
    script.write_text("import jax\n")
    job = run_job(tmp_path, [script])
    assert job.process.returncode == 0, job.process.stderr
    assert job.main.text["framework"] == "JAX"
    assert "torch" not in job.main.text


def test_of_two_frameworks_the_one_that_runs_is_named(tmp_path: Path) -> None:
    """Keras imports JAX where it is installed."""
    context = tmp_path / "tensorflow" / "python" / "eager" / "context.py"
    context.parent.mkdir(parents=True)
    context.write_text("class Context:\n    _initialized = False\n_context = Context()\n")
    for folder in (context.parent, *context.parents[1:3]):
        (folder / "__init__.py").write_text("")
    (tmp_path / "jax.py").write_text("")
    script = tmp_path / "train.py"
    for used, named in ((True, "TensorFlow"), (False, "JAX and TensorFlow")):
        script.write_text(
            "import jax, tensorflow.python.eager.context as context\n"
            f"context._context._initialized = {used}\n"
        )
        job = run_job(tmp_path / named, [script])
        assert (job.process.returncode, job.process.stderr) == (0, "")
        assert job.main.text["framework"] == named


def test_beside_pytorch_another_framework_is_no_news(tmp_path: Path) -> None:
    (tmp_path / "tensorflow.py").write_text("")
    script = tmp_path / "train.py"
    script.write_text("import tensorflow, os, torch\nos._exit(0)\n")
    assert run_job(tmp_path, [script]).rings == []
