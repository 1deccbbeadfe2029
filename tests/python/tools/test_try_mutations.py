"""What is said of a command that does what none may, and that mutations come again."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import mutations
import pytest
import try_mutations
from command_line import UNSTARVE
from try_mutations import Limits, Trier, fault_of, run_limited

LIMITS = Limits(cpu_seconds=1, wall_seconds=60, memory_kib=1 << 19)

FAULTS = {
    "kill -SEGV $$": "signal 11 ended it",
    "while :; do :; done": "it took more than 1 s of CPU time",
    r"printf 'a title \033]0;x\007' >&2": "a control character reaches the terminal",
    r"printf 'C1: \302\233 31m'": "a control character reaches the terminal",
    'echo "unstarve: a fault of unstarve\'s own: std::bad_alloc"; exit 1': "a fault of unstarve's",
    "exit 77": "it ended with 77",
}


def fault_in(script: str, folder: Path, limits: Limits = LIMITS) -> str | None:
    return fault_of(*run_limited(["bash", "-c", script], folder, limits), limits)


@pytest.mark.parametrize("script", FAULTS)
def test_a_fault_is_told(script: str, tmp_path: Path) -> None:
    assert (fault_in(script, tmp_path) or "").startswith(FAULTS[script])


def test_what_waits_for_ever_is_told(tmp_path: Path) -> None:
    fault = fault_in("exec sleep 600", tmp_path, Limits(wall_seconds=0.2))
    assert fault == "it did not end within 0.2 s"


def test_more_memory_there_is_not(tmp_path: Path) -> None:
    needs = f"exec {sys.executable} -c 'bytearray({{}} << 20)' 2>&1"
    _, said = run_limited(["bash", "-c", needs.format(1024)], tmp_path, LIMITS)
    assert b"MemoryError" in said
    assert run_limited(["bash", "-c", needs.format(1)], tmp_path, LIMITS) == (0, b"")


@pytest.mark.parametrize("script", ["echo it is read", "printf 'refused:\\n\\tthis' >&2; exit 2"])
def test_a_reading_and_a_refusal_are_none(script: str, tmp_path: Path) -> None:
    assert fault_in(script, tmp_path) is None


def test_a_mutation_comes_again_by_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(try_mutations, "KEPT", tmp_path)
    crashes = Trier(["bash", "-c", "kill -SEGV $$"], 7, LIMITS)
    for number in range(4):
        kept = []
        for _ in range(2):
            outcome = crashes.attempt(number)
            assert len(outcome.faults) == 2 and not outcome.was_read
            files = sorted((tmp_path / f"7-{number}").rglob("*"))
            kept.append([path.read_bytes() for path in files if path.is_file()])
        assert kept[0] == kept[1]


def test_each_form_is_changed_in_many_ways(tmp_path: Path) -> None:
    names = {recording.name for recording in try_mutations.recordings()}
    assert {"fed_gpu", "ring hook", "query.csv", "kernels.sqlite", "new.json"} <= names
    events = (try_mutations.RUNS / "fed_gpu/events-0.uev").read_bytes()
    assert len({mutations.change_events(events, Random(i)) for i in range(20)}) > 15
    texts = set()
    for i in range(20):
        copy = tmp_path / f"{i}.sqlite"
        copy.write_bytes((try_mutations.RUNS / "fed_gpu/run.sqlite").read_bytes())
        mutations.change_store(copy, Random(i))
        try:
            with closing(sqlite3.connect(copy)) as store:
                store.text_factory = bytes
                texts.add(tuple(store.iterdump()))
        except (sqlite3.Error, TypeError):
            texts.add((str(i),))
    assert len(texts) > 15


def test_unstarve_reads_or_refuses_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(try_mutations, "KEPT", tmp_path)
    trier = Trier([str(UNSTARVE)], 1, Limits())
    outcomes = [trier.attempt(number) for number in range(12)]
    assert [outcome.faults for outcome in outcomes if outcome.faults] == []
    assert any(outcome.was_read for outcome in outcomes)
