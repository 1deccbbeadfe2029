"""What keeps somebody from reading a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe


def serious_faults(page: Any) -> list[tuple[str, list[str]]]:
    """What axe-core finds that keeps somebody from reading a page, and where."""
    found = Axe().run(page).response["violations"]
    return [
        (fault["id"], [node["html"][:120] for node in fault["nodes"]])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
