"""The hook's start-up: it chains, costs nothing unasked, and is invisible. No torch needed."""

import json
import os
import zipfile
from pathlib import Path

import pytest
from hook_jobs import HOOK, environment, run_python

TELL = "import sys, json; print(json.dumps([sorted(sys.modules), sys.path, len(sys.meta_path)]))"


def test_unasked_it_loads_nothing() -> None:
    plain = run_python(["-c", TELL], environment())
    hooked = run_python(["-c", TELL], environment(path=[HOOK]))
    assert (hooked.returncode, hooked.stderr) == (0, "")
    modules, path, finders = json.loads(hooked.stdout)
    assert not [name for name in modules if "unstarve" in name]
    assert [path, finders] == json.loads(plain.stdout)[1:]


def test_asked_it_imports_no_torch_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "rings").mkdir()
    done = run_python(["-c", TELL], environment(tmp_path))
    modules, path, _ = json.loads(done.stdout)
    assert "_unstarve_hook" in modules
    assert "torch" not in modules
    assert "_unstarve_hook.recorder" not in modules
    assert str(HOOK) not in path
    assert done.stderr == ""
    assert list((tmp_path / "rings").iterdir()) == []


@pytest.mark.parametrize("asked", [True, False])
def test_the_next_sitecustomize_runs(tmp_path: Path, asked: bool) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("import builtins\nbuiltins.them = __file__\n")
    env = environment(tmp_path if asked else None, path=[theirs])
    if not asked:
        env["PYTHONPATH"] = os.pathsep.join([str(HOOK), str(theirs)])
    done = run_python(["-c", "import sitecustomize; print(them, sitecustomize.__file__)"], env)
    assert done.stderr == ""
    assert done.stdout.split() == [str(theirs / "sitecustomize.py")] * 2


def test_an_error_of_the_next_sitecustomize_is_reported_as_without_us(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("raise RuntimeError('mine')\n")
    without = run_python(["-c", "print(1)"], environment(path=[theirs]))
    hooked = run_python(["-c", "print(1)"], environment(tmp_path, path=[theirs]))
    assert "mine" in without.stderr
    assert hooked.stderr == without.stderr
    assert (hooked.returncode, hooked.stdout) == (without.returncode, without.stdout)


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_an_isolated_python_is_left_alone(tmp_path: Path, flag: str) -> None:
    done = run_python(
        [flag, "-c", "import sys; print('_unstarve_hook' in sys.modules)"], environment(tmp_path)
    )
    assert (done.stdout.strip(), done.stderr) == ("False", "")


def test_a_watched_module_keeps_its_loader_and_a_broken_hook_stays_silent(tmp_path: Path) -> None:
    """`PIL.ImageFile` is played by a module that lacks everything the hook looks for."""
    package = tmp_path / "PIL"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "ImageFile.py").write_text("WORKS = True\n")
    script = (
        "import PIL.ImageFile as m, inspect\n"
        "assert m.WORKS and 'exec_module' not in vars(m.__loader__)\n"
        "print(inspect.getsource(m), type(m.__spec__.loader).__name__)\n"
    )
    done = run_python(["-c", script], environment(tmp_path, path=[tmp_path]))
    assert done.stderr == ""
    assert done.stdout.split() == ["WORKS", "=", "True", "SourceFileLoader"]


def test_a_watched_module_that_is_missing_is_missing(tmp_path: Path) -> None:
    (tmp_path / "unstarve").mkdir()
    (tmp_path / "unstarve" / "__init__.py").write_text("")
    script = "try:\n  import unstarve.loader\nexcept ModuleNotFoundError as e: print(e.name)\n"
    done = run_python(["-c", script], environment(tmp_path, path=[tmp_path]))
    assert (done.stdout, done.stderr) == ("unstarve.loader\n", "")


ASKED_FOR = """
import importlib.util, sys
from pathlib import Path
from _unstarve_hook import imports
from_archive = sys.argv[1]
sys.path.insert(0, from_archive)
seen = []
for name in ("one", "two", "broken"):
    imports.after_import(name, lambda module: seen.append(module.__name__))
specs = [importlib.util.find_spec(name) for name in ("one", "one", "two")]
assert all(specs) and not seen and not importlib.util.find_spec("two").loader is None
import plain, one, two
import one
try:
    import broken
except ZeroDivisionError:
    pass
print(seen, *("exec_module" in vars(module.__loader__) for module in (plain, one, two)))
"""


@pytest.mark.parametrize("archive", [False, True])
def test_whoever_asks_for_a_module_first_does_not_hide_it(tmp_path: Path, archive: bool) -> None:
    """transformers and datasets look for torch with find_spec() before they import it. Modules of
    an archive share their loader."""
    sources = {"plain": "", "one": "", "two": "", "broken": "1 / 0"}
    place = tmp_path / "modules"
    place.mkdir()
    for name, text in sources.items():
        (place / f"{name}.py").write_text(text)
    if archive:
        with zipfile.ZipFile(tmp_path / "modules.zip", "w") as file:
            for name in sources:
                file.write(place / f"{name}.py", f"{name}.py")
        place = tmp_path / "modules.zip"
    done = run_python(["-c", ASKED_FOR, str(place)], environment(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("]")[0] == "['one', 'two'"
    if not archive:
        assert done.stdout.split()[2:] == ["False"] * 3
