"""What a change concerns: the rooms that changed, those that include them, or everything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from affected import Change

FILES = {
    "CMakePresets.json": "{}\n",
    "src/base/clock.h": "",
    "src/base/clock.cpp": '#include "base/clock.h"\n',
    "src/feed/loader.h": '#include "base/clock.h"\n',
    "src/feed/loader.cpp": '#include "feed/loader.h"\n',
    "src/feed/README.md": "What comes in.\n",
    "src/trace/ring.h": "",
    "src/trace/ring_test.cpp": '#include "trace/ring.h"\nconst char* at = UNSTARVE_SOURCE_DIR;\n',
    "src/report/text.cpp": '#include "trace/ring.h"\n',
    "tests/golden/rules_test.cpp": '#include "report/text.h"\n',
    "tests/data/trace.json": "{}\n",
    "fuzz/ring/target.cpp": '#include "trace/ring.h"\n',
    "python/unstarve/errors.py": "",
}


def git(root: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(
        ["git", "-C", str(root), *identity, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone in which a check has passed at the last commit but one."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all of it")
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci/passed").write_text(f"tsan {git(tmp_path, 'rev-parse', 'HEAD')}\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "passed")
    return tmp_path


EVERY_ROOM = {"base", "feed", "trace", "report", "tests", "fuzz"}


def test_what_has_not_changed_concerns_nothing(checkout: Path) -> None:
    change = Change.of(checkout, "tsan")
    assert change.files == frozenset({".ci/passed"})
    assert (change.rooms, change.alone) == (frozenset(), [])


def test_a_room_concerns_those_that_include_it(checkout: Path) -> None:
    (checkout / "src/trace/ring.h").write_text("// other\n")
    change = Change.of(checkout, "tsan")
    assert change.rooms == {"trace", "report", "fuzz"}
    assert change.alone == [
        "fuzz/ring/target.cpp",
        "src/report/text.cpp",
        "src/trace/ring_test.cpp",
    ]


def test_what_is_committed_since_counts_too(checkout: Path) -> None:
    (checkout / "src/feed/loader.cpp").write_text("// other\n")
    git(checkout, "commit", "-qam", "another loader")
    change = Change.of(checkout, "tsan")
    assert change.rooms == {"feed"}
    assert change.alone == ["src/feed/loader.cpp"]


def test_a_source_that_is_new_or_gone_counts(checkout: Path) -> None:
    (checkout / "src/feed/queue.cpp").write_text('#include "trace/ring.h"\n')
    assert Change.of(checkout, "tsan").rooms == {"feed"}
    (checkout / "src/feed/queue.cpp").unlink()
    (checkout / "src/report/text.cpp").unlink()
    assert Change.of(checkout, "tsan").rooms == frozenset(), "no program is left there"
    (checkout / "src/base/clock.cpp").unlink()
    assert Change.of(checkout, "tsan").rooms == {"base", "feed"}


def test_each_check_has_a_commit_of_its_own(checkout: Path) -> None:
    (checkout / "src/feed/loader.cpp").write_text("// other\n")
    git(checkout, "commit", "-qam", "another loader")
    with (checkout / ".ci/passed").open("a") as file:
        file.write(f"fuzz {git(checkout, 'rev-parse', 'HEAD')}\n")
    assert Change.of(checkout, "tsan").rooms == {"feed"}
    assert Change.of(checkout, "fuzz").rooms == frozenset()
    assert Change.of(checkout, "alone").files is None, "it has passed nowhere"


def test_documents_concern_no_program(checkout: Path) -> None:
    (checkout / "src/feed/README.md").write_text("What goes out.\n")
    assert Change.of(checkout, "tsan").rooms == frozenset()


def test_data_concern_the_tests_that_read_them(checkout: Path) -> None:
    (checkout / "tests/data/trace.json").write_text("[]\n")
    assert Change.of(checkout, "tsan").rooms == {"tests", "trace", "report", "fuzz"}


def test_what_builds_everything_concerns_everything(checkout: Path) -> None:
    (checkout / "CMakePresets.json").write_text("[]\n")
    change = Change.of(checkout, "tsan")
    assert change.rooms == EVERY_ROOM
    assert len(change.alone) == sum(name.endswith(".cpp") for name in FILES)


@pytest.mark.parametrize("passed", ["tsan " + "0" * 40, "tsan main", "0" * 40, None])
def test_where_nobody_knows_what_passed_everything_is_concerned(
    checkout: Path, passed: str | None
) -> None:
    file = checkout / ".ci/passed"
    file.write_text(f"{passed}\n") if passed else file.unlink()
    change = Change.of(checkout, "tsan")
    assert change.files is None
    assert change.rooms == EVERY_ROOM
    assert change.touches("requirements/torch-*")


def test_names_of_files_are_matched_in_folders_too(checkout: Path) -> None:
    (checkout / "python/unstarve/errors.py").write_text("pass\n")
    change = Change.of(checkout, "tsan")
    assert change.touches("python/*")
    assert not change.touches("src/*", "requirements/torch-*")
