"""UNSTARVE_FIX: loaders get workers without a change of code, where that is safe."""

import json
import os
from pathlib import Path

import pytest
from hook_jobs import environment, run_job, run_python
from PIL import Image
from unstarve import _native as native

two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="workers are limited to the CPUs at hand"
)

ORDER = """
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __init__(self, handle=None):
        self.handle = handle
    def __len__(self):
        return 21
    def __getitem__(self, index):
        return torch.full((2,), float(index)), index

generator = torch.Generator().manual_seed(5)
loader = DataLoader(Numbers(), batch_size=4, shuffle=True, generator=generator)
for epoch in range(2):
    for images, labels in loader:
        print(epoch, images.tolist(), labels.tolist())
"""

REFUSALS = """
import multiprocessing, sys, torch
from torch.utils.data import DataLoader

class Numbers(list):
    pass

held = Numbers([1, 2, 3])
held.file = open(__file__)
unpicklable = Numbers([1, 2, 3])
unpicklable.transform = lambda number: number
for data, options in [
    ([1, 2, 3], {"batch_size": None}),
    (held, {}),
]:
    assert len(list(DataLoader(data, **options))) == 3
multiprocessing.set_start_method("spawn")
list(DataLoader(unpicklable))
list(DataLoader([1, 2, 3]))
"""


@two_cpus
def test_batches_and_their_order_are_the_same(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(ORDER)
    plain = run_python([script], environment())
    fix = {"num_workers": 2, "prefetch_factor": 3, "pin_memory": True}
    job = run_job(tmp_path, [script], UNSTARVE_FIX=json.dumps(fix))
    assert (job.process.returncode, job.process.stdout) == (0, plain.stdout)
    assert (plain.stderr, job.process.stderr, job.errors) == ("", "", [])
    assert len(job.workers) == 4
    assert {(r["num_workers"], r["prefetch_factor"]) for r in job.main.of("loader")} == {(2, 3)}
    before = {"num_workers": 0, "prefetch_factor": None, "pin_memory": False}
    after = {"num_workers": 2, "prefetch_factor": 3, "pin_memory": False}
    assert job.main.text["fix_applied"] == [{"loader": 0, "before": before, "after": after}]


def test_workers_beyond_the_cpus_are_for_who_asks_for_them(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(ORDER)
    plain = run_python([script], environment())
    many = len(os.sched_getaffinity(0)) + 2
    fix = {"num_workers": many, "prefetch_factor": 2, "beyond_cpus": True}
    job = run_job(tmp_path, [script], UNSTARVE_FIX=json.dumps(fix))
    assert (job.process.returncode, job.process.stdout) == (0, plain.stdout)
    # torch's warning of so many is not printed in the job's name.
    assert (job.process.stderr, job.errors) == ("", [])
    assert job.main.text["fix_applied"][0]["after"]["num_workers"] == many
    few = tmp_path / "few"
    few.mkdir()
    job = run_job(few, [script], UNSTARVE_FIX=json.dumps({"num_workers": many}))
    assert job.main.text["fix_applied"][0]["after"]["num_workers"] == many - 2


@two_cpus
def test_what_would_not_be_safe_is_refused_with_its_reason(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(REFUSALS)
    job = run_job(tmp_path, [script], UNSTARVE_FIX='{"num_workers": 2}')
    assert (job.process.returncode, job.process.stdout, job.process.stderr) == (0, "", "")
    assert {r["num_workers"] for r in job.main.of("loader")} == {0}
    assert "fix_applied" not in job.main.text
    reasons = [refused["reason"] for refused in job.main.text["fix_refused"]]
    expected = ["batch_size is None", "holds an open", "not picklable", "__main__"]
    assert len(reasons) == len(expected)
    assert all(word in reason for word, reason in zip(expected, reasons, strict=True))


SWAP = """
import sys
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

plan = transforms.Compose([transforms.Resize(40), transforms.CenterCrop(32), transforms.ToTensor()])
folder = datasets.ImageFolder(sys.argv[1], plan)
torch.manual_seed(3)
workers = int(sys.argv[2])
loader = DataLoader(
    folder, batch_size=2, shuffle=True, num_workers=workers, timeout=60 if workers else 0
)
for images, labels in loader:
    print(images.shape, images.dtype, labels.tolist())
print(type(loader).__module__)
slow = DataLoader([1, 2, 3])
print(list(slow), type(slow).__module__)
"""


@pytest.mark.parametrize(("workers", "given"), [(1, 5), (0, 0)])
def test_unstarves_loader_takes_the_place_of_torchs(
    tmp_path: Path, workers: int, given: int
) -> None:
    """As the script with the import and the argument in it would have it."""
    for number in range(5):
        folder = tmp_path / "data" / "ab"[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (60 + number, 50), (number * 40, 90, 20)).save(folder / f"{number}.jpg")
    script = tmp_path / "train.py"
    script.write_text(SWAP)
    package = Path(native.__file__).parent.parent
    words = [script, tmp_path / "data", str(workers)]
    plain = run_python(words, environment())
    fix = '{"loader": "unstarve", "num_workers": 5}'  # threads
    job = run_job(tmp_path, words, [package], UNSTARVE_FIX=fix)
    ours = "unstarve.dataloader.drop_in"
    expected = plain.stdout.replace("torch.utils.data.dataloader", ours, 1)
    assert (job.process.returncode, job.process.stdout) == (0, expected), job.process.stderr
    applied = job.main.text["fix_applied"]
    after = {"loader": "unstarve", "num_workers": given}
    assert [(fix["loader"], fix["after"]) for fix in applied] == [(0, after)]
    threads = [record["num_workers"] for record in job.main.of("loader")]
    assert threads == [given or len(os.sched_getaffinity(0)), 0]
    refused = job.main.text["fix_refused"]
    assert [fix["loader"] for fix in refused] == [1] and "natively" in refused[0]["reason"]
    assert len(job.main.of("wait")) >= 3 + 3


OPENED = """
import os, sys
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

class Photos(Dataset):
    def __init__(self, folder):
        self.files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.transform = transforms.Compose(
            [transforms.Resize(48), transforms.CenterCrop(32), transforms.ToTensor()])
    def __len__(self):
        return len(self.files)
    def __getitem__(self, index):
        image = Image.open(self.files[index]).convert("RGB")
        kind = type(image).__name__
        return self.transform(image), kind

loader = DataLoader(Photos(sys.argv[1]), batch_size=3, num_workers=int(sys.argv[2]))
for images, kinds in loader:
    print(tuple(images.shape), set(kinds))
print(type(loader).__module__)
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_of_unstarves_loader_make_the_images_that_a_data_set_opens(
    tmp_path: Path, workers: int
) -> None:
    photos = tmp_path / "data"
    photos.mkdir()
    for number in range(6):
        Image.new("RGB", (80 + number, 60), (number * 40, 90, 20)).save(photos / f"{number}.jpg")
    script = tmp_path / "train.py"
    script.write_text(OPENED)
    package = Path(native.__file__).parent.parent
    job = run_job(
        tmp_path, [script, photos, workers], [package], UNSTARVE_FIX='{"loader": "workers"}'
    )
    assert job.process.returncode == 0, job.process.stderr
    kind, module = ("Image", "torch.utils.data.dataloader")
    if workers:
        kind, module = ("OpenedImage", "unstarve.dataloader.drop_in")
    batch = f"(3, 3, 32, 32) {{'{kind}'}}\n"
    assert job.process.stdout == 2 * batch + f"{module}\n"
    assert ("fix_applied" in job.main.text) == bool(workers)
    if not workers:
        (refused,) = job.main.text["fix_refused"]
        assert "by workers of unstarve's" in refused["reason"]


STREAM = """
import random, sys
import numpy
import torch
from torch.utils.data import DataLoader, IterableDataset

class Numbers(IterableDataset):
    passes = 0
    def __iter__(self):
        self.passes += 1
        kept = list(range(20))
        random.shuffle(kept)
        for number in kept:
            noise = float(torch.rand(())) if self.passes == 1 else 0.0
            yield torch.tensor([float(number), noise, numpy.random.random()]), self.passes

random.seed(3)
numpy.random.seed(4)
torch.manual_seed(5)
loader = DataLoader(Numbers(), batch_size=int(sys.argv[1]), num_workers=int(sys.argv[2]))
for _ in range(3):
    for numbers, passes in loader:
        print(numbers.dtype, numbers.tolist(), passes.tolist())
"""


def test_a_stream_gets_one_worker_that_goes_on_where_it_was(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(STREAM)
    plain = run_python([script, "4", "0"], environment())
    job = run_job(tmp_path, [script, "4", "0"], UNSTARVE_FIX='{"num_workers": 2}')
    assert (job.process.returncode, job.process.stdout) == (0, plain.stdout), job.process.stderr
    assert (job.process.stderr, job.errors) == ("", [])
    assert {record["num_workers"] for record in job.main.of("loader")} == {1}
    assert "deliver all of it" in job.main.text["fix_limited"][0]["reason"]
    assert job.main.text["fix_applied"][0]["after"]["persistent_workers"] is True
    (only,) = job.workers
    assert len(only.of("fetch")) >= 15, "one process for all passes"


def test_a_stream_with_workers_keeps_their_number(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(STREAM.replace("for _ in range(3)", "for _ in range(1)"))
    fix = json.dumps({"num_workers": 2, "prefetch_factor": 4})
    job = run_job(tmp_path, [script, "4", "1"], UNSTARVE_FIX=fix)
    assert job.process.returncode == 0
    assert "another order" in job.main.text["fix_refused"][0]["reason"]


def test_workers_that_live_on_give_the_same_batches(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    shuffled = ORDER.replace("shuffle=True", "shuffle=True, num_workers=1")
    own = shuffled.replace("range(2)", "range(4)").replace(", generator=generator)", ")")
    script.write_text(own)
    seeded = own.replace("generator =", "torch.manual_seed(9)\ngenerator =")
    script.write_text(seeded)
    plain = run_python([script], environment())
    job = run_job(tmp_path, [script], UNSTARVE_FIX='{"persistent_workers": true}')
    assert (job.process.returncode, job.process.stdout) == (0, plain.stdout), job.process.stderr
    assert (job.process.stderr, job.errors) == ("", [])
    assert len(job.workers) == 1, "of four passes"
    assert job.main.text["fix_applied"][0]["after"]["persistent_workers"] is True


CHANGES = """
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    epoch = 0
    def __len__(self):
        return 6
    def __getitem__(self, index):
        return index + 100 * self.epoch

data = Numbers()
loader = DataLoader(data, batch_size=3, num_workers=1)
for epoch in range(3):
    data.epoch = epoch
    print([batch.tolist() for batch in loader])
first, second = iter(loader), iter(loader)
print(next(first).tolist(), next(second).tolist(), next(first).tolist(), next(second).tolist())
"""


def test_a_job_that_would_notice_gets_new_workers(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(CHANGES)
    plain = run_python([script], environment())
    job = run_job(tmp_path, [script], UNSTARVE_FIX='{"persistent_workers": true}')
    assert (job.process.returncode, job.process.stdout) == (0, plain.stdout), job.process.stderr
    assert job.errors == []


HOLDS = """
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(12)), batch_size=3, num_workers=1)
for epoch in range(3):
    held = iter(loader)  # as Lightning holds one until the next is there, and never exhausts it
    print([next(held)[0].tolist() for _ in range(len(loader))])
"""


def test_who_holds_an_iterator_that_is_through_keeps_its_workers(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(HOLDS)
    plain = run_python([script], environment())
    job = run_job(tmp_path, [script], UNSTARVE_FIX='{"persistent_workers": true}')
    assert (job.process.returncode, job.process.stdout) == (0, plain.stdout), job.process.stderr
    assert (len(job.workers), job.errors) == (1, [])


def test_fewer_workers_are_for_who_asks_for_them(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(ORDER.replace("shuffle=True", "shuffle=True, num_workers=3"))
    plain = run_python([script], environment())
    job = run_job(tmp_path, [script], UNSTARVE_FIX='{"num_workers": 1, "fewer": true}')
    assert (job.process.returncode, job.process.stdout) == (0, plain.stdout)
    assert job.main.text["fix_applied"][0]["after"]["num_workers"] == 1
    kept = tmp_path / "kept"
    kept.mkdir()
    job = run_job(kept, [script], UNSTARVE_FIX='{"num_workers": 1}')
    assert "fix_applied" not in job.main.text


def test_no_workers_are_for_who_asks_for_them(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    given = 'num_workers=2, prefetch_factor=4, timeout=60, multiprocessing_context="fork", '
    script.write_text(ORDER.replace("batch_size=4", given + "batch_size=4"))
    plain = run_python([script], environment())
    job = run_job(tmp_path, [script], UNSTARVE_FIX='{"num_workers": 0, "fewer": true}')
    assert (job.process.returncode, job.process.stdout) == (0, plain.stdout)
    assert (job.process.stderr, job.errors, job.workers) == ("", [], [])
    assert [r["num_workers"] for r in job.main.of("loader")] == [0, 0]
    kept = tmp_path / "kept"
    kept.mkdir()
    job = run_job(kept, [script], UNSTARVE_FIX='{"num_workers": 0}')
    assert [r["num_workers"] for r in job.main.of("loader")] == [2, 2]


def test_workers_that_are_set_up_stay(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    given = "num_workers=1, worker_init_fn=print, "
    script.write_text(ORDER.replace("batch_size=4", given + "batch_size=4"))
    job = run_job(tmp_path, [script], UNSTARVE_FIX='{"num_workers": 0, "fewer": true}')
    assert [r["num_workers"] for r in job.main.of("loader")] == [1, 1]
    assert "worker_init_fn" in job.main.text["fix_refused"][0]["reason"]
