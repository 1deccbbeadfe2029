"""Holds a verdict against what was planted: pure functions, no job runs here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from changes import change_right, is_harmful, names_place, told_in_full
from gains import Tried, predicted_in, score
from planted import Job, Plant

# Of a step: what a plant has to cost to count, and what may be said of a healthy job.
NOTICEABLE = 0.05
# A plant that costs at least so much of the largest may be named first.
AS_LARGE = 0.8
CAUSE_TARGET, DETAIL_TARGET, CHANGE_TARGET = 0.92, 0.85, 0.80


@dataclass
class Judgement:
    """What was said of a job, and whether it is right. A healthy job's `cause_right` says that
    nothing was found in it; it has no detail to be right."""

    job: Job
    said: str = "nothing"
    detail: str = ""
    share: float = 0.0
    cause_right: bool = False
    detail_right: bool | None = None
    tried: list[Tried] = field(default_factory=list)
    # Of the leading finding, remedies with a prediction that does not exclude a loss.
    doubtful: list[str] = field(default_factory=list)
    # Whether the change to begin with is right; None where it is not known what would be.
    change: str = ""
    change_right: bool | None = None
    harmful: bool = False
    # Whether cause and change are told in full on a terminal of 80 columns.
    in_full: bool | None = None

    @property
    def healthy(self) -> bool:
        return not self.job.plants


def leading_finding(told: dict[str, Any]) -> dict[str, Any]:
    """The one that the verdict begins with; the largest where it begins with none."""
    findings = told.get("findings") or [{}]
    return dict(findings[told.get("leading_finding", 0)])


def all_words(finding: dict[str, Any], told: dict[str, Any]) -> str:
    """What is said about the leading finding, as one text."""
    kept = {key: finding.get(key) for key in ("detail", "evidence", "remedies")}
    return f"{told.get('verdict', '')} {json.dumps(kept, ensure_ascii=False)}"


def top_plants(job: Job, costs: Sequence[float]) -> list[Plant]:
    """Those that may be named first, by what they were measured to cost."""
    if not costs or max(costs) <= 0:
        return list(job.plants[:1])
    return [
        plant
        for plant, cost in zip(job.plants, costs, strict=True)
        if cost >= AS_LARGE * max(costs)
    ]


def names_reason(job: Job, plant: Plant, finding: dict[str, Any], words: str) -> bool:
    """Whether the detail, or the line, or the reason's name is there."""
    if finding.get("detail") in plant.details:
        return True
    return names_place(job, plant, words)


def causes_said(told: dict[str, Any], finding: dict[str, Any]) -> set[str]:
    """What leads: the finding's cause, and a late rank, with which the verdict begins then."""
    late = (told.get("ranks") or {}).get("straggler")
    return {finding.get("cause", "nothing")} | ({"straggler"} if late else set())


def knows_change(job: Job) -> bool:
    """Whether its plants say what kind of change their cures are. A healthy job needs none."""
    return all(plant.change for plant in job.plants)


def judge_change(judged: Judgement, told: dict[str, Any], costs: Sequence[float]) -> None:
    job = judged.job
    if not knows_change(job):
        return
    judged.change = told.get("next_remedy", "")
    known = dict(zip(job.plants, costs, strict=True)) if job.plants and costs else {}
    top = {plant: known.get(plant, 0.0) for plant in (job.plants and top_plants(job, costs))}
    judged.change_right = change_right(job, told, top, judged.tried)
    judged.harmful = is_harmful(job, told, judged.tried)


def judge(job: Job, told: dict[str, Any], costs: Sequence[float], brief: str = "") -> Judgement:
    """`brief`: what a terminal of 80 columns shows, where it is judged too."""
    finding = leading_finding(told)
    judged = Judgement(
        job,
        said=finding.get("cause", "nothing"),
        detail=finding.get("detail", ""),
        share=finding.get("share", 0.0),
    )
    for tried in told.get("verification", []):
        measured = tried["measured"]
        predicted = predicted_in(tried.get("predicted", {}))
        slowed = measured["high"] < 1
        judged.tried.append(Tried(tried["remedy"], measured["speedup"], predicted, slowed))
    judged.doubtful = [
        remedy["id"]
        for remedy in finding.get("remedies", [])
        if remedy.get("predicted", {}).get("low", 2) <= 1
    ]
    judge_change(judged, told, costs)
    if brief:
        judged.in_full = told_in_full(brief)
    if judged.healthy:
        found = [f for f in told.get("findings", []) if f["cause"] != "gpu_busy"]
        judged.cause_right = all(f["share"] < NOTICEABLE for f in found)
        return judged
    words = all_words(finding, told)
    causes = causes_said(told, finding)
    said = [plant for plant in top_plants(job, costs) if causes & set(plant.causes)]
    judged.cause_right = bool(said)
    judged.detail_right = any(names_reason(job, plant, finding, words) for plant in said)
    return judged


@dataclass(frozen=True)
class Totals:
    """Counts over jobs: of so many, so many."""

    planted: int
    causes_right: int
    details_right: int
    healthy: int
    accused: int
    # Of the jobs whose change could be judged.
    changes: int
    changes_right: int
    harmful: int
    shown: int
    in_full: int
    tried: int
    slowed: int
    # Of what was tried, what had a prediction, and how good it was (gains.py).
    predicted: int
    inside: int
    median_error: float
    median_width: float

    @property
    def reached(self) -> bool:
        return (
            self.causes_right >= CAUSE_TARGET * self.planted
            and self.details_right >= DETAIL_TARGET * self.planted
            and self.accused == 0
            and self.slowed == 0
            and self.changes_right >= CHANGE_TARGET * self.changes
            and self.harmful == 0
            and self.in_full == self.shown
        )


def totals_of(judgements: Sequence[Judgement]) -> Totals:
    planted = [each for each in judgements if not each.healthy]
    healthy = [each for each in judgements if each.healthy]
    tried = [remedy for each in judgements for remedy in each.tried]
    predictions = score(tried)
    return Totals(
        planted=len(planted),
        causes_right=sum(each.cause_right for each in planted),
        details_right=sum(bool(each.detail_right) for each in planted),
        healthy=len(healthy),
        accused=sum(not each.cause_right for each in healthy),
        changes=sum(each.change_right is not None for each in planted),
        changes_right=sum(bool(each.change_right) for each in planted),
        harmful=sum(each.harmful for each in judgements),
        shown=sum(each.in_full is not None for each in judgements),
        in_full=sum(bool(each.in_full) for each in judgements),
        tried=len(tried),
        slowed=sum(remedy.slowed for remedy in tried),
        **asdict(predictions),
    )


def confusion(judgements: Sequence[Judgement]) -> list[str]:
    """Rows are what was planted, columns what was said."""
    cells = Counter(
        (each.job.plants[0].causes[0] if each.job.plants else "healthy", each.said)
        for each in judgements
    )
    rows = sorted({row for row, _ in cells})
    columns = sorted({column for _, column in cells})
    lines = ["planted \\ said".ljust(24) + "".join(f"{name:>24}" for name in columns)]
    for row in rows:
        counts = "".join(f"{cells[row, column] or '.':>24}" for column in columns)
        lines.append(row.ljust(24) + counts)
    return lines
