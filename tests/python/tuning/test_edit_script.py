"""The text of a script with an edit in it, and its diff: the module that a job's Python runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from edit_script import edit_script

Edit = dict[str, Any]
NO_TRAINER = "line 2 has no call of Trainer"
TORCH = "import torch\n"
FUSED: Edit = {"optimizer": "AdamW"}


def lines(*texts: str, unless: tuple[str, ...] = ()) -> Edit:
    return {"lines": list(texts), "unless": list(unless)}


THREADS = lines("torch.set_num_threads(2)", unless=("set_num_threads",))


def loader(line: int, arguments: dict[str, str] | None = None, **more: Any) -> Edit:
    call = {"class_name": "DataLoader", "line": line, "arguments": arguments or {}, **more}
    return {"calls": [call]}


def number(class_name: str, line: int, name: str, was: int, value: int) -> Edit:
    call = {"class_name": class_name, "line": line, "was": {name: was}}
    return {"calls": [call | {"arguments": {name: str(value)}}]}


class Folder:
    """Where a script lies, twice, so that `patch` and `git apply` have one each."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def edit(self, source: str | bytes, *edits: Edit, name: str = "train.py") -> dict[str, Any]:
        script = self.path / name
        script.write_bytes(source if isinstance(source, bytes) else source.encode())
        return edit_script(str(script), name, list(edits))

    def refused(self, source: str | bytes, *edits: Edit) -> bool:
        """All of them, so that nothing is left."""
        made = self.edit(source, *edits)
        if not all(made["refused"]):
            return False
        assert made["diff"] == ""
        return True

    def edited(self, source: str, *edits: Edit, name: str = "train.py") -> str:
        """The script with all of the edits, which both programs have to make of the diff."""
        made = self.edit(source, *edits, name=name)
        assert made["refused"] == [None] * len(edits), source
        (self.path / "change.patch").write_bytes(made["diff"].encode())
        copy = self.path / "copy"
        copy.mkdir(exist_ok=True)
        shutil.copy(self.path / name, copy / name)
        for command, folder in (
            (["patch", "-s", "-p1", "-i", "change.patch"], self.path),
            (["git", "apply", "../change.patch"], copy),
        ):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, (done.stdout, done.stderr, made["diff"])
            assert (folder / name).read_bytes().decode() == made["text"], command
        return str(made["text"])


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_lines_stand_behind_the_first_import_of_torch(folder: Folder) -> None:
    both = lines("torch.a(2)", 'torch.b("high")')
    text = 'torch.a(2)\ntorch.b("high")\n'
    assert folder.edited("import torch\nprint(1)\n", both) == f"import torch\n{text}print(1)\n"
    source = "import os\nimport torch, sys  # both\n"
    assert folder.edited(source, both) == source + text
    assert (
        folder.edited("import torch, \\\n    sys\n", both) == "import torch, \\\n    sys\n" + text
    )
    source = (
        '"""\nimport torch\n"""\nfrom __future__ import annotations\n\n'
        "try:\n    import torch\nexcept ImportError:\n    raise\nimport torch\n"
    )
    assert folder.edited(source, both) == source + text


def test_lines_end_as_the_scripts_do(folder: Folder) -> None:
    added = "torch.set_num_threads(2)"
    windows = "import torch\r\nprint(1)\r\n"
    assert folder.edited(windows, THREADS) == f"import torch\r\n{added}\r\nprint(1)\r\n"
    assert folder.edited("import torch", THREADS) == f"import torch\n{added}"
    assert folder.edited("import torch\nx = 1", THREADS) == f"import torch\n{added}\nx = 1"
    marked = "\ufeffimport torch\n"
    assert folder.edited(marked, THREADS) == marked + added + "\n"


@pytest.mark.parametrize(
    "source",
    [
        "from torch import nn\n",
        "import torch as t\n",
        "import torch.nn as nn\n",
        "if True:\n    import torch\n",
        "import torch; x = 1\n",
        "x = '''\nimport torch\n'''\n",
        "import torch\ntorch.set_num_threads(1)\n",
        "import torchvision\n",
        "",
        "import torch\nprint(\n",
        b"import torch\n\x00",
        b"# coding: latin-1\nimport torch\nx = '\xe9'\n",
        b"import torch\nx = '\xe9'\n",
    ],
)
def test_lines_without_a_place_are_refused(folder: Folder, source: str | bytes) -> None:
    assert folder.refused(source, THREADS)


def test_what_a_comment_or_a_string_says_is_no_use_of_a_name(folder: Folder) -> None:
    source = "import torch\n# set_num_threads\nx = 'set_num_threads'\n"
    assert "torch.set_num_threads(2)\n" in folder.edited(source, THREADS)


def test_the_only_optimizer_is_fused(folder: Folder) -> None:
    made = folder.edited(TORCH + "o = torch.optim.AdamW(m.parameters(), lr=1e-3)\n", FUSED)
    assert made == TORCH + "o = torch.optim.AdamW(m.parameters(), lr=1e-3, fused=True)\n"
    made = folder.edited(TORCH + "o = torch.optim.AdamW(p, fused=False, lr=1)\n", FUSED)
    assert made == TORCH + "o = torch.optim.AdamW(p, fused=True, lr=1)\n"
    by_name = "from torch.optim import AdamW\no = AdamW(\n    p,  # all\n"
    made = folder.edited(by_name + "    lr=1,  # high\n)\n", FUSED)
    assert made == by_name + "    lr=1,  # high\n    fused=True,\n)\n"
    made = folder.edited(by_name + "    lr=1  # high\n)\n", FUSED)
    assert made == by_name + "    lr=1, fused=True  # high\n)\n"


@pytest.mark.parametrize(
    "imports",
    [
        "import torch.optim as optim\n",
        "from torch import nn, optim\n",
        "import os; from torch import (\n    nn,\n    optim,\n)\nfrom x import AdamW\n",
    ],
)
def test_torchs_module_may_have_another_name(folder: Folder, imports: str) -> None:
    before = f"{imports}o = optim.AdamW(p, lr=1"
    assert folder.edited(before + ",)\n", FUSED) == before + ", fused=True)\n"


@pytest.mark.parametrize(
    "source",
    [
        "from torch import nn\nfrom mine import optim\na = optim.AdamW(p)\n",
        "from torch import optim as o, nn\noptim = 1\na = optim.AdamW(p)\n",
        "from torch import optim\noptim = mine\na = optim.AdamW(p)\n",
        "from torch import optim\ndef make(optim):\n    return optim.AdamW(p)\n",
        "from torch import optim\nimport mine.optim as optim\na = optim.AdamW(p)\n",
        "import torch.optim as optimizers\na = optim.AdamW(p)\n",
        "from torch import optim\nfrom mine import *\na = optim.AdamW(p)\n",
        "from torch.optim.lr_scheduler import L\nfrom transformers import AdamW\na = AdamW(p)\n",
        "from torch.optim import SGD, AdamW as A\na = AdamW(p)\n",
        "from torch.optim import AdamW\nfrom b import AdamW\na = AdamW(p)\n",
        "from torch.optim import AdamW\nclass AdamW: pass\na = AdamW(p)\n",
        TORCH + "a = torch.optim.AdamW(p)\nb = torch.optim.AdamW(q)\n",
        TORCH + "a = torch.optim.AdamW(**options)\n",
        TORCH + "a = torch.optim.AdamW(p, foreach=True)\n",
        TORCH + "a = AdamW(p)\n",
        TORCH + "a = other.AdamW(p)\n",
        TORCH + "a = torch.optim.AdamW(x for x in p)\n",
        TORCH + "a = torch.optim.SGD(p)\n",
        TORCH + "class A(MyAdamW): pass\n",
        TORCH + "a = torch.optim.AdamW(p)\nb = torch.optim.SGD(q)\n",
        TORCH + "a = torch.optim.AdamW(p\n",
        "a = torch.optim.AdamW(p)\n",
    ],
)
def test_an_optimizer_that_is_not_certain_is_refused(folder: Folder, source: str) -> None:
    assert folder.refused(source, FUSED)


def test_numbers_of_a_loader_are_given_or_replaced(folder: Folder) -> None:
    edits = [
        number("DataLoader", 2, "num_workers", 0, 4),
        number("DataLoader", 2, "batch_size", 8, 32),
    ]
    head = "import torch.utils.data as d\n"
    call = head + "l = d.DataLoader("
    made = folder.edited(call + "r, 8, shuffle=True)\n", *edits)
    assert made == call + "r, 32, shuffle=True, num_workers=4)\n"
    made = folder.edited(call + "r, num_workers=0, batch_size=8)\n", *edits)
    assert made == call + "r, num_workers=4, batch_size=32)\n"
    made = folder.edited(call + "\r\n    r,\r\n    batch_size=8,  # small, so\r\n)\r\n", *edits)
    assert made == (
        call + "\r\n    r,\r\n    batch_size=32,  # small, so\r\n    num_workers=4,\r\n)\r\n"
    )
    made = folder.edited(call + "r, 8, True, None, None, 0)\n", *edits)
    assert made == call + "r, 32, True, None, None, 4)\n"
    made = folder.edited(head + "x = 'é'; l = d.DataLoader(r, 8)  # ü\n", *edits)
    assert made == head + "x = 'é'; l = d.DataLoader(r, 32, num_workers=4)  # ü\n"


@pytest.mark.parametrize(
    "source",
    [
        "l = DataLoader(r, num_workers=options.workers)\n",
        "l = DataLoader(r, num_workers=True)\n",
        "l = DataLoader(r, num_workers=3)\n",
        "l = DataLoader(r, **options)\n",
        "l = DataLoader(r, num_workers=2)\nm = DataLoader(s, num_workers=2)\n",
        "l = make(r)\n",
        "l = DataLoader(r, 8, True, None, None, workers)\n",
        "l = DataLoader(*r)\n",
        "class Mine(DataLoader): pass\nl = Mine(r)\n",
        "\nl = DataLoader(r, num_workers=2)\n",
        "l = 'DataLoader(r, num_workers=2)'\n",
    ],
)
def test_a_number_that_is_not_certain_is_refused(folder: Folder, source: str) -> None:
    assert folder.refused(source, number("DataLoader", 1, "num_workers", 2, 4))


def test_an_edit_is_made_whole_or_not_at_all(folder: Folder) -> None:
    pair = number("DataLoader", 1, "batch_size", 8, 16)
    pair["calls"] += number("Trainer", 2, "accumulate_grad_batches", 2, 1)["calls"]
    made = folder.edit("l = DataLoader(r, 8)\nt = None\n", pair)
    assert made == {"text": "l = DataLoader(r, 8)\nt = None\n", "diff": "", "refused": [NO_TRAINER]}
    source = "l = DataLoader(r, 8)\nt = Trainer(accumulate_grad_batches=2)\n"
    assert folder.edited(source, pair) == (
        "l = DataLoader(r, 16)\nt = Trainer(accumulate_grad_batches=1)\n"
    )


def test_trainers_get_theirs(folder: Folder) -> None:
    accumulation = number("Trainer", 2, "accumulate_grad_batches", 1, 2)
    head = "import lightning as L\n"
    assert folder.edited(head + "t = L.Trainer()\n", accumulation) == (
        head + "t = L.Trainer(accumulate_grad_batches=2)\n"
    )
    workers = number("TrainingArguments", 3, "dataloader_num_workers", 0, 2)
    source = head + "t = L.Trainer()\na = Seq2SeqTrainingArguments('out', bf16=True)\n"
    assert folder.edited(source, accumulation, workers) == (
        head + "t = L.Trainer(accumulate_grad_batches=2)\n"
        "a = Seq2SeqTrainingArguments('out', bf16=True, dataloader_num_workers=2)\n"
    )
    assert folder.refused(head + "\na = TrainingArguments('out', True)\n", workers)


def test_changes_far_apart_are_hunks_of_their_own(folder: Folder) -> None:
    middle = "".join(f"x{i} = {i}\n" for i in range(20))
    source = TORCH + middle + "o = torch.optim.AdamW(p)\n"
    assert folder.edited(source, THREADS, FUSED) == (
        f"{TORCH}torch.set_num_threads(2)\n{middle}o = torch.optim.AdamW(p, fused=True)\n"
    )
    diff = folder.edit(source, THREADS, FUSED)["diff"]
    assert diff.startswith(
        "--- a/train.py\n+++ b/train.py\n@@ -1,4 +1,5 @@\n import torch\n+torch.s"
    )
    assert "@@ -19,4 +20,4 @@\n x17 = 17\n" in diff


def test_a_name_is_written_as_patch_reads_it(folder: Folder) -> None:
    assert "set_num_threads" in folder.edited(TORCH, THREADS, name="my train.py")
    refused = edit_script(str(folder.path / "my train.py"), 'a"b.py', [THREADS])["refused"]
    assert refused == ["the script's name cannot stand in a diff"]


@pytest.mark.parametrize(
    ("source", "edit", "why"),
    [
        (
            "kwargs = {}\nDataLoader(ds, **kwargs)\n",
            loader(2, {"num_workers": "8"}),
            "the call of DataLoader in line 2 takes arguments from **kwargs",
        ),
        (
            "DataLoader(ds, num_workers=args.workers)\n",
            number("DataLoader", 1, "num_workers", 2, 4),
            "the call of DataLoader in line 1 gives num_workers as args.workers",
        ),
        (
            "import torch\ntorch.set_num_threads(1)\n",
            THREADS,
            "the script uses set_num_threads itself",
        ),
        ("import torch as t\n", THREADS, "the script has no line `import torch`"),
        (
            "print 'x'\n",
            THREADS,
            f"Python {sys.version_info.major}.{sys.version_info.minor} cannot read the script with "
            "the change",
        ),
    ],
)
def test_a_refusal_says_what_stands_in_the_way(
    folder: Folder, source: str, edit: Edit, why: str
) -> None:
    assert folder.edit(source, edit)["refused"] == [why]


def test_a_script_that_is_gone_is_said(folder: Folder) -> None:
    (why,) = edit_script(str(folder.path / "gone.py"), "gone.py", [THREADS])["refused"]
    assert "No such file" in why


WORKERS = {"num_workers": "8", "prefetch_factor": "4"}


def test_an_argument_gets_another_value_and_others_are_added(folder: Folder) -> None:
    source = TORCH + "loader = DataLoader(ds, 4, num_workers=2)  # (two\n"
    assert folder.edited(source, loader(2, WORKERS)) == (
        TORCH + "loader = DataLoader(ds, 4, num_workers=8, prefetch_factor=4)  # (two\n"
    )
    assert folder.edited("DataLoader(ds, 4, True, None, None, n)\n", loader(1, WORKERS)) == (
        "DataLoader(ds, 4, True, None, None, 8, prefetch_factor=4)\n"
    )
    assert folder.edited("DataLoader(ds, num_workers=(a or\n  2))\n", loader(1, WORKERS)) == (
        "DataLoader(ds, num_workers=(8), prefetch_factor=4)\n"
    )


def test_a_call_over_several_lines_gets_a_line_more(folder: Folder) -> None:
    head = "loader = DataLoader(\n    dataset,  # of (photos\n    batch_size=max(4, size),\n"
    assert folder.edited(head + ")\n", loader(2, WORKERS)) == (
        head + "    num_workers=8, prefetch_factor=4,\n)\n"
    )


def test_a_comment_behind_the_last_argument_stays_behind_it(folder: Folder) -> None:
    source = "DataLoader(\n    ds,\n    batch_size=4  # a, (few\n)\n"
    assert folder.edited(source, loader(1, WORKERS)) == (
        "DataLoader(\n    ds,\n    batch_size=4, num_workers=8, prefetch_factor=4  # a, (few\n)\n"
    )
    source = "DataLoader(\n    # those\n    num_workers=2,  # two\n)\n"
    assert folder.edited(source, loader(1, {"num_workers": "8"})) == (
        "DataLoader(\n    # those\n    num_workers=8,  # two\n)\n"
    )


def test_strings_and_other_calls_are_not_taken_for_the_loader(folder: Folder) -> None:
    head = 'print(\'DataLoader(a)\', """DataLoader(\n"""); x = DataLoader(f(\',)\'), shuffle=True'
    assert folder.edited(head + ")\n", loader(2, {"num_workers": "1"})) == (
        head + ", num_workers=1)\n"
    )
    for source in ("make(DataLoader, ds)\n", "DataLoader(ds\n", "DataLoader(ds, **options)\n"):
        assert folder.refused(source, loader(1, WORKERS)), source
    assert folder.refused("DataLoader()\n", loader(1, WORKERS))
    assert folder.refused("f'{DataLoader(ds)} {1}'; (DataLoader)(ds)\n", loader(1, WORKERS))


def test_the_drop_in_comes_by_its_import(folder: Folder) -> None:
    drop_in = loader(4, {"pin_memory": "True"}, drop_in=True)
    call = "\nloader = DataLoader(ds)\n"
    after = "\nloader = DataLoader(ds, pin_memory=True)\n"
    ours = "from unstarve import DataLoader\n"
    torchs = "from torch.utils.data import"
    for imports, changed in (
        (f"{torchs} DataLoader, Dataset\n\n", f"{torchs} Dataset\n{ours}\n"),
        (f"{torchs} Dataset, DataLoader  # both\n\n", f"{torchs} Dataset  # both\n{ours}\n"),
        (f"{torchs} (DataLoader)\n\n", f"{ours}\n"),
        ("from torch.utils.data.dataloader import DataLoader\n\n", f"{ours}\n"),
        (f"{torchs} (\n  DataLoader,\n  A)\n", f"{torchs} (\n  A)\n{ours}"),
        (f"{torchs} (\n  A, DataLoader,\n)\n", f"{torchs} (\n  A, )\n{ours}"),
    ):
        made = folder.edited(imports + call, loader_on(imports + call, drop_in))
        assert made == changed + after, imports


def test_kept_samples_stand_around_the_data_set(folder: Folder) -> None:
    head = '"""Doc."""\nimport torch\n'
    for call, changed in (
        ("DataLoader(ds)", "DataLoader(unstarve.cached(ds))"),
        ("DataLoader(Late(1, 2), 8)", "DataLoader(unstarve.cached(Late(1, 2)), 8)"),
        (
            "DataLoader(batch_size=8, dataset=ds)",
            "DataLoader(batch_size=8, dataset=unstarve.cached(ds))",
        ),
        ("DataLoader(\n    a\n    + b,\n)", "DataLoader(\n    unstarve.cached(a\n    + b),\n)"),
    ):
        made = folder.edited(f"{head}x = {call}\n", loader(3, cached=True))
        assert made == f'"""Doc."""\nimport unstarve\nimport torch\nx = {changed}\n'
    both = folder.edited(f"{head}DataLoader(ds)\n", loader(3, {"num_workers": "2"}, cached=True))
    assert both.endswith("DataLoader(unstarve.cached(ds), num_workers=2)\n")
    for source in (f"{head}DataLoader()\n", f"{head}DataLoader(*given)\n", "\n\nDataLoader(ds)\n"):
        assert folder.refused(source, loader(3, cached=True)), source


def loader_on(source: str, edit: Edit) -> Edit:
    """The same edit of the last line's call."""
    return {"calls": [edit["calls"][0] | {"line": source.count("\n")}]}


def test_the_drop_in_comes_by_the_name_that_is_called(folder: Folder) -> None:
    source = '"""Doc."""\nfrom __future__ import annotations\nimport torch\n'
    call = "loader = torch.utils.data.DataLoader(ds)\n"
    assert folder.edited(source + call, loader(4, drop_in=True)) == (
        '"""Doc."""\nfrom __future__ import annotations\nimport unstarve\nimport torch\n'
        "loader = unstarve.DataLoader(ds)\n"
    )
    for other in (
        "from mine import DataLoader\nDataLoader(d)\n",
        "from torch.utils.data import DataLoader; x = 1\nDataLoader(d)\n",
        "\ntorch.utils.data.DataLoader(d)\n",
        "from torch.utils.data import MyDataLoader\nMyDataLoader(d)\n",
    ):
        assert folder.refused(other, loader(2, drop_in=True)), other
