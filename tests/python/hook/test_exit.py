"""How jobs end: what they still hold when the interpreter goes makes no noise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

IMAGES = """
from torchvision import datasets, transforms
transform = transforms.Compose([transforms.CenterCrop(32), transforms.PILToTensor()])
dataset = datasets.ImageFolder(sys.argv[1], transform)
"""
NUMBERS = "dataset = torch.utils.data.TensorDataset(torch.arange(100))"

SCRIPT = """
import ctypes, sys
import torch
from unstarve import DataLoader
{dataset}
loader = DataLoader(dataset, batch_size=4, num_workers=2, persistent_workers=True)
iterator = iter(loader)
batch = next(iterator)
{hold}
print(loader.explain().engine)
"""

HOLD = {
    "at module level": "",
    "by an extension's module": "torch.kept = iterator",
    "by nobody who lets go": "ctypes.pythonapi.Py_IncRef(ctypes.py_object(iterator))",
}


@pytest.mark.parametrize("hold", sorted(HOLD))
@pytest.mark.parametrize("engine", ["native", "workers"])
def test_nothing_is_said_at_the_end(folder: Path, engine: str, hold: str) -> None:
    dataset = IMAGES if engine == "native" else NUMBERS
    script = SCRIPT.format(dataset=dataset, hold=HOLD[hold])
    arguments = [str(folder)] if engine == "native" else []
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=120
    )
    assert (result.stdout, result.stderr, result.returncode) == (f"{engine}\n", "", 0)


INHERITED = """
import gc
import torch
from unstarve import DataLoader

class Collecting(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        held.clear()
        gc.collect()
        return index

held = [iter(DataLoader(range(9), num_workers=2))]
print([int(index) for index in DataLoader(Collecting(), num_workers=1)])
"""


def test_a_worker_that_inherits_an_iterator_lets_go_of_it_quietly() -> None:
    result = subprocess.run(
        [sys.executable, "-c", INHERITED], capture_output=True, text=True, timeout=120
    )
    assert (result.stdout, result.stderr) == ("[0, 1, 2, 3]\n", "")
