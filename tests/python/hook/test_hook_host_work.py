"""What the hook knows by name of the work that holds a training process up."""

from pathlib import Path

from hook_jobs import run_job

JOB = """
import gc, inspect, sys, torch
print(list(inspect.signature(torch.save).parameters)[:2], torch.save.__name__)
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
heap = [[i] for i in range(400_000)]
gc.collect()  # nothing was recorded yet: no reason for a ring
for step in range(4):
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    gc.collect()
    gc.collect(0)
torch.save(torch.zeros(4_000_000), sys.argv[1])
try:
    torch.save(model, "/nowhere/at/all.pt")
except Exception as error:
    import traceback
    print(len([f for f in traceback.extract_tb(error.__traceback__) if "_unstarve" in f.filename]))
    print(type(error).__name__)
"""


def test_collections_and_saved_files_are_known_by_name(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(JOB)
    job = run_job(tmp_path, [script, tmp_path / "model.pt"])
    assert job.process.returncode == 0, job.process.stderr
    said = job.process.stdout.split("\n")
    assert said[0] == "['obj', 'f'] save"
    assert said[1:3] == ["0", "RuntimeError"]
    work = job.main.of("host_work")
    assert all(r["end_ns"] - r["start_ns"] >= 1_000_000 for r in work)
    steps = job.main.of("step")
    collections = [r for r in work if r["kind"] == 0 and r["start_ns"] >= steps[0]["end_ns"]]
    assert 4 <= len(collections) <= 6, "one behind each step, and Python's own"
    saved = [r for r in work if r["kind"] == 1]
    # On a busy machine the one that fails may take a millisecond too.
    assert 1 <= len(saved) <= 2
    assert not job.errors


def test_a_process_that_only_collects_garbage_leaves_no_ring(tmp_path: Path) -> None:
    script = tmp_path / "helper.py"
    script.write_text(
        "import gc, os, torch\nheap = [[i] for i in range(400_000)]\ngc.collect()\nos._exit(0)\n"
    )
    job = run_job(tmp_path, [script])
    assert job.process.returncode == 0, job.process.stderr
    assert not job.rings
