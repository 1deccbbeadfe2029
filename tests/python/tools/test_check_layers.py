"""The layer check fails on what it is there to catch."""

from pathlib import Path

import check_layers
import pytest

TABLE = """
| folder | layer | what it is | may include |
|---|---|---|---|
| base | 0 | results | - |
| host | 1 | the system | base |
| feed/data | 3 | nouns | base |
| feed/decode | 3 | pixels | feed/data, base |
| feed/pipeline | 3 | all stages | feed/data, feed/decode, host, base |
| cli | 6 | commands | feed, base |
| tune | 5 | has no folder yet | base |

| other | table |
|---|---|
| cli | 1 |
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "ARCHITECTURE.md").write_text(TABLE)
    sources = {
        "base/result.h": "#include <string>\n",
        "host/cpu.h": '#include "base/result.h"\n',
        "feed/data/image.h": '#include "base/result.h"\n',
        "feed/decode/jpeg.h": '#include "feed/data/image.h"\n',
        "feed/pipeline/loader.h": '#include "feed/decode/jpeg.h"\n#include "host/cpu.h"\n',
        "cli/main.cpp": '#include "cli/command.h"\n#include "feed/pipeline/loader.h"\n',
        "cli/command.h": "",
        "feed/decode/testing/made.h": '#include "feed/data/image.h"\n',
        "feed/pipeline/loader_test.cpp": '#include "feed/decode/testing/made.h"\n',
        "host/testing/cpus.h": '#include "feed/decode/testing/made.h"\n',
    }
    for name, text in sources.items():
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def plant(tree: Path, name: str, text: str) -> list[str]:
    path = tree / "src" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return check_layers.check(tree)


def test_allowed_includes_pass(tree: Path) -> None:
    assert check_layers.check(tree) == []


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("base/bad.h", '#include "host/cpu.h"', "base may not include host"),
        ("base/bad.cpp", '\n#  include "cli/command.h"', "src/base/bad.cpp:2:"),
        ("feed/decode/bad.h", '#include "feed/pipeline/loader.h"', "may not include feed/pipeline"),
        ("feed/data/bad.h", '#include "feed/decode/jpeg.h"', "may not include feed/decode"),
        ("cli/bad.cpp", '#include "host/cpu.h"', "cli may not include host"),
        ("cli/bad.cpp", '#include "../base/result.h"', "without .."),
        ("cli/bad.cpp", '#include "base/gone/away.h"', None),
        ("cli/bad.cpp", '#include "fmt/format.h"', "libraries go in <>"),
        ("host/bad.cpp", '#include "host/testing/cpus.h"', "only tests may include"),
        ("host/bad_test.cpp", '#include "feed/data/image.h"', "host may not include feed/data"),
        ("host/bad_test.cpp", '#include "host/testing/gone.h"', "no such file"),
        ("host/testing/bad.h", '#include "cli/command.h"', "host may not include cli"),
        ("web/testing/page.h", "", "no row in ARCHITECTURE.md"),
        ("web/server.h", "", "no row in ARCHITECTURE.md"),
        ("feed/loose.h", "", "no row in ARCHITECTURE.md"),
    ],
)
def test_planted_violations(tree: Path, name: str, text: str, complaint: str | None) -> None:
    problems = plant(tree, name, text)
    if complaint is None:  # below a known folder: whether the file exists is the compiler's matter
        assert problems == []
    else:
        others = [problem for problem in problems if "include each other" not in problem]
        assert len(others) == 1
        assert complaint in others[0]


def test_a_cycle_in_the_table_is_named(tree: Path) -> None:
    text = TABLE.replace("| base | 0 | results | - |", "| base | 0 | results | host |")
    (tree / "ARCHITECTURE.md").write_text(text)
    assert any("cycle: base -> host -> base" in problem for problem in check_layers.check(tree))


def test_a_row_that_names_an_unknown_folder(tree: Path) -> None:
    text = TABLE.replace("| feed, base |", "| feed, bass |")
    (tree / "ARCHITECTURE.md").write_text(text)
    assert any("bass, which has no row" in problem for problem in check_layers.check(tree))


def test_a_missing_table_is_a_failure(tree: Path) -> None:
    (tree / "ARCHITECTURE.md").write_text("nothing here")
    assert check_layers.check(tree) != []


CIRCLES = """
| folders that include each other | why |
|---|---|
| host, host/cgroups | one subject |
"""


def plant_circle(tree: Path) -> list[str]:
    plant(tree, "host/cgroups/limit.h", '#include "host/cpu.h"')
    return plant(tree, "host/quota.cpp", '#include "host/cgroups/limit.h"')


def test_folders_that_include_each_other(tree: Path) -> None:
    assert plant_circle(tree) == ["src: these folders include each other: host, host/cgroups"]


def test_folders_that_include_each_other_by_way_of_a_third(tree: Path) -> None:
    plant(tree, "host/a/a.h", '#include "host/b/b.h"')
    plant(tree, "host/b/b.h", '#include "host/c/c.h"')
    assert plant(tree, "host/c/c.h", '#include "host/a/a.h"') == [
        "src: these folders include each other: host/a, host/b, host/c"
    ]


def test_a_circle_that_is_listed_may_be(tree: Path) -> None:
    (tree / "ARCHITECTURE.md").write_text(TABLE + CIRCLES)
    assert plant_circle(tree) == []


def test_a_folder_that_left_its_circle_leaves_the_list(tree: Path) -> None:
    (tree / "ARCHITECTURE.md").write_text(TABLE + CIRCLES)
    problems = check_layers.check(tree)
    assert len(problems) == 2
    assert "host is in no circle any more" in problems[0]


def test_what_is_for_tests_makes_no_circle(tree: Path) -> None:
    plant(tree, "host/cgroups/limit.h", '#include "host/cpu.h"')
    assert plant(tree, "host/quota_test.cpp", '#include "host/cgroups/limit.h"') == []
