"""Holds what the program writes as JSON against the schemas that people and agents are given."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).resolve().parents[2] / "docs/formats/schemas"


@functools.cache
def validator_of(name: str) -> Draft202012Validator:
    """`name`: the schema's in a document, "unstarve.diagnosis/1"."""
    short, version = name.removeprefix("unstarve.").split("/")
    path = SCHEMAS / f"{short}-{version}.schema.json"
    return Draft202012Validator(json.loads(path.read_text()))


def check_document(document: dict[str, Any]) -> None:
    wrong = [
        f"{error.json_path}: {error.message[:300]}"
        for error in validator_of(document["schema"]).iter_errors(document)
    ]
    assert not wrong, f"against {document['schema']}: {wrong}"


def written_texts(arguments: Sequence[str | bytes], cwd: Path | None, out: str) -> Iterator[str]:
    """What `--json` made the program write: to a file, or to its standard output."""
    words = [word if isinstance(word, str) else "" for word in arguments]
    own = words[: words.index("--")] if "--" in words else words
    if "--json" in own:
        yield out
        path = (cwd or Path()) / own[(own.index("--json") + 1) % len(own)]
        if path.is_file() and path.suffix == ".json":
            yield path.read_text(errors="surrogateescape")


def check_written(arguments: Sequence[str | bytes], cwd: Path | None, out: str) -> None:
    for text in written_texts(arguments, cwd, out):
        try:
            document = json.loads(text)
        except ValueError:
            continue  # a text for people, or nothing at all
        if isinstance(document, dict) and "schema" in document:
            check_document(document)
