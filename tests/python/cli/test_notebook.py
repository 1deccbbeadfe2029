"""`unstarve.report()` and `unstarve.compare()` in a notebook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import unstarve as package
from command_line import UNSTARVE, unstarve
from recorded import recorded


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSTARVE_PROGRAM", str(UNSTARVE))


def test_a_run_shows_itself(tmp_path: Path) -> None:
    run = package.report(recorded("starved", tmp_path))
    told = json.loads(unstarve("report", "--json", "-", str(tmp_path / "starved")).stdout)
    assert run.diagnosis == told
    assert run.verdict == told["verdict"]
    assert "waits for data" in str(run)
    assert [one.share for one in run.findings] == [one["share"] for one in told["findings"]]
    shown = run._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown  # the page's own is escaped within the frame
    assert "<li>" in run.findings[0]._repr_html_()
    assert len(repr(run)) < 200


def test_a_comparison_shows_itself(tmp_path: Path) -> None:
    runs = [recorded(name, tmp_path) for name in ("starved", "fed")]
    comparison = package.compare(*runs)
    (document,) = comparison.documents
    assert document["schema"] == "unstarve.comparison/1"
    assert "step" in str(comparison)
    assert comparison.page.startswith("<!doctype html>")
    assert comparison._repr_html_().startswith("<iframe")
    assert len(package.compare(*runs, runs[0]).documents) == 2


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing"):
        package.report(tmp_path / "nothing")
