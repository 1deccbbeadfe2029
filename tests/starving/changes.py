"""Is the change that a report begins with what somebody of that field would do?

Pure functions: no job runs here. A plant says of which kind its cure is. A remedy is of that kind,
or it is not; a remedy that fits many causes also has to name the plant's place. A remedy that was
tried is right as well where it gained most of what the cure gains by the clock.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gains import Tried
from planted import Job, Plant

# What of the cure's gain another change has to gain to be as good.
AS_GOOD = 0.8

# Whether `unstarve.cached()` may keep the samples, only a trial tells: sample_cache is in no row.
#: By the kind of cure: the remedies that are the same change.
RIGHT: Mapping[str, frozenset[str]] = {
    "collect_less_often": frozenset({"move_host_work"}),
    "commit_less_often": frozenset({"move_host_work", "kept_connection"}),
    "decode_beforehand": frozenset(
        {"frames_beforehand", "stored_uncompressed", "unstarve_shards", "unstarve_cache"}
    ),
    "decode_smaller": frozenset({"reduced_decode"}),
    "decode_what_is_used": frozenset({"frames_beforehand", "reduced_decode"}),
    "divide_among_workers": frozenset({"divided_stream"}),
    "features_beforehand": frozenset({"features_beforehand", "cheaper_transforms"}),
    "fewer_workers_that_stay": frozenset({"persistent_workers", "fewer_workers", "no_workers"}),
    "generate_with_cache": frozenset({"cuda_graphs_or_compile", "kept_keys_and_values"}),
    "larger_batch": frozenset({"larger_batch"}),
    "lengths_once": frozenset({"faster_sampler"}),
    "log_less_often": frozenset({"remove_sync", "move_host_work"}),
    "metrics_less_often": frozenset({"remove_sync", "move_host_work"}),
    "metrics_on_device": frozenset({"remove_sync"}),
    "one_handle_per_worker": frozenset({"kept_connection", "kept_file"}),
    "one_tensor_per_batch": frozenset({"cheaper_collate", "fewer_copies", "batch_by_index"}),
    "pad_to_the_longest": frozenset({"pad_to_the_longest"}),
    "persistent_workers": frozenset({"persistent_workers"}),
    "save_less_often": frozenset({"move_host_work"}),
    "statistics_once": frozenset({"cheaper_transforms", "move_host_work"}),
    "swap_in_the_buffer": frozenset({"move_host_work"}),
    "tensors_for_rows": frozenset({"arrays_for_rows"}),
    "tokenise_beforehand": frozenset({"tokens_beforehand", "move_host_work"}),
    "vectorise": frozenset({"cheaper_transforms", "cheaper_collate", "move_host_work"}),
}
# They fit many causes: without the place they say nothing.
BROAD = frozenset({"cheaper_transforms", "cheaper_collate", "move_host_work", "remove_sync"})
# What a remedy of several forms has to say to be that of a kind.
SAYS = {
    ("generate_with_cache", "cuda_graphs_or_compile"): "cache",
    ("tokenise_beforehand", "move_host_work"): "beforehand",
    ("features_beforehand", "cheaper_transforms"): "beforehand",
    ("statistics_once", "cheaper_transforms"): "beforehand",
}
# Each worker gives all of a stream that does not divide itself.
REPEATS = frozenset({"more_workers"})


def begins_with(told: Mapping[str, Any]) -> dict[str, Any]:
    """The remedy that a report begins with; empty where it begins with none."""
    name = told.get("next_remedy")
    for finding in told.get("findings", []):
        for remedy in finding.get("remedies", []):
            if remedy["id"] == name:
                return dict(remedy)
    return {}


def names_place(job: Job, plant: Plant, words: str) -> bool:
    line = job.line_of(plant)
    if line and re.search(rf"\b{re.escape(job.script.name)}:{line}\b", words):
        return True
    return any(re.search(rf"\b{re.escape(word)}\b", words) for word in plant.says)


def is_cure(job: Job, plant: Plant, told: Mapping[str, Any]) -> bool:
    """Whether the change is of the kind of the plant's cure, and at its place."""
    remedy = begins_with(told)
    if not remedy or remedy["id"] not in RIGHT.get(plant.change, frozenset()):
        return False
    if SAYS.get((plant.change, remedy["id"]), "") not in remedy.get("how", ""):
        return False
    words = f"{remedy.get('how', '')} {told.get('verdict', '')}"
    return remedy["id"] not in BROAD or names_place(job, plant, words)


def gains_as_much(cost: float, tried: Sequence[Tried], remedy: str) -> bool:
    """`cost`: of a step, what the plant takes by the clock."""
    if not 0 < cost < 1:
        return False
    cured = 1 / (1 - cost)
    return any(each.remedy == remedy and each.measured >= AS_GOOD * cured for each in tried)


def change_right(
    job: Job, told: Mapping[str, Any], costs: Mapping[Plant, float], tried: Sequence[Tried]
) -> bool:
    """`costs`: of the plants that may be named first. A healthy job needs no change."""
    remedy = begins_with(told)
    if not job.plants:
        return not remedy
    return any(
        is_cure(job, plant, told) or gains_as_much(cost, tried, remedy.get("id", ""))
        for plant, cost in costs.items()
    )


def is_harmful(job: Job, told: Mapping[str, Any], tried: Sequence[Tried]) -> bool:
    """A change that slows its job, or gives samples twice."""
    remedy = begins_with(told)
    if not remedy:
        return False
    if any(each.slowed and each.remedy == remedy["id"] for each in tried):
        return True
    streams = any(plant.change == "divide_among_workers" for plant in job.plants)
    workers = remedy.get("values", {}).get("num_workers", 0)
    return streams and remedy["id"] in REPEATS and workers > 1


def paragraphs(brief: str) -> dict[str, str]:
    """By label, the text of a report's short form: "Why", "Change", ..."""
    found: dict[str, str] = {}
    label = ""
    for line in brief.splitlines():
        if head := re.fullmatch(r"([A-Z][a-z]+) +", line[:8]):
            label = head[1]
        elif not line.startswith("        "):
            label = ""
        found[label] = f"{found.get(label, '')} {line[8:] if label else line}".strip()
    return found


def told_in_full(brief: str, most_lines: int = 15) -> bool:
    """Whether cause and change are complete, in so many lines."""
    told = paragraphs(brief)
    cut = any("…" in told.get(label, "") for label in ("Why", "Change"))
    return bool(told.get("Why")) and not cut and len(brief.splitlines()) <= most_lines
