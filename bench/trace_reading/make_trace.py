"""Makes a long profiler trace out of a short real one: the same steps again and again, later."""

from __future__ import annotations

import argparse
import gzip
import json
import re
from pathlib import Path
from typing import Any

STEP = re.compile(r"^ProfilerStep#(\d+)$")


def is_step(event: dict[str, Any]) -> bool:
    """True for the host's annotation of a step."""
    return event.get("cat") == "user_annotation" and bool(STEP.match(event.get("name", "")))


def shifted(event: dict[str, Any], by_us: float, by_id: int, by_step: int) -> dict[str, Any]:
    """The event `by_us` later, with correlations and step numbers of its own."""
    copy = dict(event)
    copy["ts"] = round(event["ts"] + by_us, 1)
    args = event.get("args", {})
    if "correlation" in args:
        copy["args"] = {**args, "correlation": args["correlation"] + by_id}
    if event.get("cat") == "ac2g":
        copy["id"] = event["id"] + by_id
    match = STEP.match(event.get("name", ""))
    if match:
        copy["name"] = f"ProfilerStep#{int(match[1]) + by_step}"
    return copy


def make_trace(source: Path, target: Path, megabytes: float) -> int:
    """Writes at least `megabytes` (10^6 bytes) of JSON, one event a line; returns its size."""
    document = json.loads(gzip.decompress(source.read_bytes()))
    events = [event for event in document.pop("traceEvents") if event.get("ph") != "M"]
    steps = [event for event in events if is_step(event)]
    begin = min(event["ts"] for event in steps)
    end = max(event["ts"] + event["dur"] for event in steps)
    # Only whole steps are repeated, so that one round continues where the last one ended.
    inside = [e for e in events if begin <= e["ts"] and e["ts"] + e.get("dur", 0) <= end]
    correlations = [e["args"]["correlation"] for e in inside if "correlation" in e.get("args", {})]
    period_ids = max(correlations) + 1
    document["displayTimeUnit"] = "ms"
    size = 0
    with target.open("w", encoding="utf-8") as out:
        size += out.write(json.dumps(document)[:-1] + ', "traceEvents": [\n')
        rounds = 0
        while size < megabytes * 1e6:
            for number, event in enumerate(inside):
                later = shifted(
                    event, rounds * (end - begin), rounds * period_ids, rounds * len(steps)
                )
                size += out.write((",\n" if rounds or number else "") + json.dumps(later))
            rounds += 1
        size += out.write("\n]}\n")
    return size


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="a .json.gz trace of PyTorch's profiler")
    parser.add_argument("target", type=Path, help="the .json to write")
    parser.add_argument("--megabytes", type=float, default=50, help="least size of the JSON")
    options = parser.parse_args()
    print(make_trace(options.source, options.target, options.megabytes), "bytes")


if __name__ == "__main__":
    main()
