"""Runs HolisticTraceAnalysis once on one trace; prints times and results as one JSON line.

Runs in a Python that has HolisticTraceAnalysis, not in the project's.
"""

from __future__ import annotations

import json
import logging
import resource
import sys
import time

from hta.trace_analysis import TraceAnalysis


def cpu_s() -> float:
    """CPU seconds of this process and of the children it has waited for."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, both))


def main(trace: str) -> None:
    """Reads `trace`, then computes what unstarve computes too."""
    logging.disable(logging.CRITICAL)
    marks = [(time.perf_counter(), cpu_s())]
    analysis = TraceAnalysis(trace_files={0: trace}, trace_dir="")
    marks.append((time.perf_counter(), cpu_s()))
    idle, _ = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
    temporal = analysis.get_temporal_breakdown(visualize=False)
    marks.append((time.perf_counter(), cpu_s()))
    row = temporal.iloc[0]
    result = {
        "load_wall_s": marks[1][0] - marks[0][0],
        "load_cpu_s": marks[1][1] - marks[0][1],
        "analyse_wall_s": marks[2][0] - marks[1][0],
        "analyse_cpu_s": marks[2][1] - marks[1][1],
        "busy_ratio": 1 - float(row["idle_time_pctg"]) / 100,
        "idle_rows": len(idle),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
