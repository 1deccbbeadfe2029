"""Plants regressions: the scripts of this folder, before a change and after it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tomllib

FOLDER = Path(__file__).parent


@dataclass
class Plant:
    """One pair of scripts. `moved`: parts of a step that a comparison may name, of one that is
    slower; "input_wait/syncs" is a part where it is named with this reason."""

    name: str
    script: str
    kind: str  # "slower", "same", "trade"
    edits: list[tuple[str, str]]
    base: list[tuple[str, str]] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)

    def is_named(self, part: str, reason: str) -> bool:
        return part in self.moved or f"{part}/{reason}" in self.moved

    def before(self) -> str:
        return _edited((FOLDER / self.script).read_text(), self.base)

    def after(self) -> str:
        return _edited(self.before(), self.edits)


def _edited(text: str, edits: list[tuple[str, str]]) -> str:
    for old, new in edits:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} stands {text.count(old)} times in the script, not once")
        text = text.replace(old, new)
    return text


def plants() -> list[Plant]:
    """Raises TypeError for a plant with a key that there is not."""
    rows = tomllib.loads((FOLDER / "plants.toml").read_text())
    return [Plant(name=name, **row) for name, row in rows.items()]
