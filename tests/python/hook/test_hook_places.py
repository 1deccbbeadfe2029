"""Where the hook says that code is: in scripts, behind a change of folder, in notebooks' cells."""

from pathlib import Path

from hook_jobs import run_job

# IPython gives a cell's code such a file, and keeps the number that the notebook shows beside it.
NOTEBOOK = """
import sys, types, torch
NAME = "/tmp/ipykernel_4711/191777776.py"
shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map=MAP))
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
cell = '''
from torch.utils.data import DataLoader

loader = DataLoader(torch.zeros(8, 2), batch_size=4)
for batch in loader: pass
'''
exec(compile(cell, NAME, "exec"))
"""

ELSEWHERE = """
import os, torch
from torch.utils.data import DataLoader
os.chdir("/")
for batch in DataLoader(torch.zeros(8, 2), batch_size=4): pass
"""


def places(run_dir: Path, code: str) -> tuple[str, str]:
    script = run_dir / "train.py"
    script.write_text(code)
    job = run_job(run_dir, [script])
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    loader = job.main.text["loaders"]["0"]
    return loader["loader_place"], loader["iterated_at"]


def test_a_cell_has_the_notebooks_number(tmp_path: Path) -> None:
    assert places(tmp_path, NOTEBOOK.replace("MAP", "{NAME: 7}")) == ("cell 7:4", "cell 7:5")


def test_a_cell_without_a_number_is_a_cell(tmp_path: Path) -> None:
    made, _ = places(tmp_path, NOTEBOOK.replace("MAP", "{}"))
    assert made == "notebook cell:4"


def test_a_change_of_folder_changes_no_place(tmp_path: Path) -> None:
    here = Path.cwd()
    made, iterated = places(tmp_path, ELSEWHERE)
    assert made == iterated
    assert str(here / made) == f"{here / tmp_path / 'train.py'}:5"
