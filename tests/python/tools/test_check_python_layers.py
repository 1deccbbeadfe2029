"""The check of the Python package's layers fails on what it is there to catch."""

from pathlib import Path

import check_python_layers
import pytest

TABLE = """
| folder | what it is | may import |
|---|---|---|
| `__init__` | the face | loader |
| `errors` | what is raised | - |
| `order` | which samples | errors |
| `loader` | batches | order, errors |
| `hook` | in the job | - |

| folder | layer | what it is | may include |
|---|---|---|---|
| base | 0 | results | - |
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "ARCHITECTURE.md").write_text(TABLE)
    sources = {
        "__init__.py": "def load():\n    from unstarve.loader import Loader\n",
        "errors.py": "import os\n",
        "order/epoch.py": "from unstarve.errors import Error\nfrom unstarve.order import ranges\n",
        "order/ranges.py": "",
        "loader/loader.py": "import unstarve.order.epoch\nfrom unstarve import errors\n",
        "hook/start.py": "from . import ring\nfrom .ring import Ring\n",
        "hook/ring.py": "",
    }
    for name, text in sources.items():
        plant(tmp_path, name, text)
    return tmp_path


def plant(tree: Path, name: str, text: str) -> None:
    path = tree / "python/unstarve" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_allowed_imports_pass(tree: Path) -> None:
    assert check_python_layers.check(tree) == []


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        (
            "order/bad.py",
            "\nfrom unstarve.loader.loader import Loader",
            "order/bad.py:2: order may",
        ),
        ("order/bad.py", "import unstarve.loader", "order may not import loader"),
        ("order/bad.py", "from unstarve import loader", "order may not import loader"),
        ("order/bad.py", "import unstarve", "order may not import __init__"),
        ("order/bad.py", "from unstarve import Loader", "order may not import __init__"),
        ("order/bad.py", "from ..loader import loader", "order may not import loader"),
        ("order/bad.py", "from .. import loader", "order may not import loader"),
        ("order/bad.py", "def late():\n    import unstarve.loader", "order/bad.py:2: order may"),
        ("order/bad.py", "if TYPE_CHECKING:\n    import unstarve.loader", "may not import loader"),
        ("hook/deep/bad.py", "from unstarve.errors import Error", "hook may not import errors"),
        ("errors.py", "from unstarve.gone import away", "errors may not import gone"),
        ("new/part.py", "", "python/unstarve/new: no row"),
        ("_native.pyi", "", "python/unstarve/_native: no row"),
    ],
)
def test_planted_faults(tree: Path, name: str, text: str, complaint: str) -> None:
    plant(tree, name, text)
    (problem,) = check_python_layers.check(tree)
    assert complaint in problem


@pytest.mark.parametrize(
    ("row", "instead", "complaint"),
    [
        ("what is raised | - |", "what is raised | order |", "cycle: errors -> order -> errors"),
        ("which samples | errors |", "which samples | errors, oder |", "oder, which has no row"),
        ("in the job | - |", "in the job | - |\n| `gone` | - | - |", "gone has a row"),
    ],
)
def test_a_faulty_table(tree: Path, row: str, instead: str, complaint: str) -> None:
    (tree / "ARCHITECTURE.md").write_text(TABLE.replace(row, instead))
    (problem,) = check_python_layers.check(tree)
    assert complaint in problem


def test_a_missing_table_is_a_failure(tree: Path) -> None:
    (tree / "ARCHITECTURE.md").write_text("nothing here")
    assert check_python_layers.check(tree) != []
