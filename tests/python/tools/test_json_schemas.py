"""The schemas of what commands write are sound, and a document that breaks one is told."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import ROOT
from json_schemas import SCHEMAS, check_document, written_texts
from jsonschema import Draft202012Validator
from recorded import report_of


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.stem)
def test_a_schema_is_one(path: Path) -> None:
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    name, version = path.name.removesuffix(".schema.json").rsplit("-", 1)
    assert schema["properties"]["schema"] == {"const": f"unstarve.{name}/{version}"}


def only_null(schema: Any, path: str = "") -> Iterator[str]:
    """Places whose value could be nothing but null: as a schema says that was read off a document
    which happened to lack it."""
    parts = schema.items() if isinstance(schema, dict) else enumerate(schema)
    for key, part in parts:
        is_property = path.endswith("/properties")
        if is_property and part in ({"type": "null"}, {"const": None}):
            yield f"{path}/{key}"
        elif isinstance(part, (dict, list)):
            yield from only_null(part, f"{path}/{key}")


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.stem)
def test_every_value_may_be_there(path: Path) -> None:
    assert not list(only_null(json.loads(path.read_text())))


def test_every_schema_that_the_program_writes_has_its_file() -> None:
    named = set()
    for source in (ROOT / "src").rglob("*.cpp"):
        for line in source.read_text().splitlines():
            if '"schema", "unstarve.' in line:
                named.add(line.split('"unstarve.')[1].split('"')[0])
    # A run's own table and the lines that `export` writes are no `--json`.
    wanted = {name.replace("/", "-") for name in named - {"run/1", "run_lines/1"}}
    there = {path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.json")}
    assert wanted <= there


def test_what_breaks_a_schema_is_named() -> None:
    report = copy.deepcopy(report_of("window_starved"))
    check_document(report)
    report["findings"][0]["share"] = "much"
    with pytest.raises(AssertionError, match=r"findings\[0\].share"):
        check_document(report)


def test_the_tests_of_commands_see_files_and_standard_output(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text("{}")
    assert list(written_texts(["run", "--json", "d.json", "--", "x"], tmp_path, "")) == ["", "{}"]
    assert list(written_texts(["doctor", "--json"], tmp_path, "said")) == ["said"]
    assert not list(written_texts(["run", "--", "x", "--json", "d.json"], tmp_path, ""))
