"""A distributed job of which one rank is slow: one verdict, about that rank."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measuring import disturbance_of_run, measured
from recorded_runs import report_of, watched


def judge(found: dict[str, Any], because: str, words: str) -> None:
    each = found["ranks"]["each"]
    assert [row["rank"] for row in each] == [0, 1]
    late = found["ranks"]["straggler"]
    assert each[late["at"]]["rank"] == 1
    assert late["because"] == because
    assert late["late_ratio"] > 0.4
    verdict = found["verdict"]
    assert verdict.startswith("Rank 1 of 2 (on emulated GPUs) is late by "), verdict
    assert words in verdict
    assert "the other rank waits for it in all-reduce" in verdict
    assert ".item()" not in verdict


def test_a_rank_that_waits_for_its_loader_is_named_while_it_runs(tmp_path: Path) -> None:
    def run() -> dict[str, Any]:
        launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
        words = ("late_rank.py", "0.01", "data")
        return watched(tmp_path, *words, options=("--gpus", "2"), launcher=launcher)[0]

    measured(
        run,
        lambda found: judge(found, "input_wait", "because it waits for its data loader at "),
        lambda _: disturbance_of_run(tmp_path / "run"),
    )


def test_a_rank_whose_host_is_late_is_named() -> None:
    words = "because its host launches the next work later"
    judge(report_of("late_rank_host"), "host", words)
