"""Measures again where other processes took the CPUs meanwhile, a bounded number of times.

    found = measured(run_the_job, judge)

`judge` asserts what the test is about. Where it objects to a measurement that nothing disturbed,
the test fails at once. Whether something did is asked of what was recorded while it was measured.
"""

from __future__ import annotations

import os
import resource
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

#: A program that is slow on its own is not made right by trying often.
AT_MOST = 4

#: Others that use less leave a measurement as it is; the kernel's own work is below it.
OTHERS_CORES = 0.1
#: Of the time something was ready and had no CPU. Others that use idle CPUs disturb nobody.
WAITED_RATIO = 0.02
SWITCHES_PER_S = 5.0


@dataclass(frozen=True)
class Readings:
    """What the kernel has counted until now. Pressure is absent where it does not count it."""

    clock_s: float
    used_s: float  # by whomever, and by other machines on the same CPUs
    own_s: float  # of it, by this process and by the children that it waited for
    pressure_s: float | None
    involuntary_switches: int


def read_now(proc: Path = Path("/proc")) -> Readings:
    tick = os.sysconf("SC_CLK_TCK")
    words = (proc / "stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = (int(word) / tick for word in words[:8])
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Readings(
        clock_s=time.monotonic(),
        used_s=user + nice + system + irq + softirq + steal,
        own_s=sum(one.ru_utime + one.ru_stime for one in own),
        pressure_s=_pressure_s(proc / "pressure/cpu"),
        involuntary_switches=sum(one.ru_nivcsw for one in own),
    )


def _pressure_s(file: Path) -> float | None:
    try:
        some = file.read_text().splitlines()[0]
    except OSError:
        return None
    return int(some.rpartition("total=")[2]) / 1e6


def disturbance_between(before: Readings, after: Readings) -> str:
    """In words what disturbed this process and its children; nothing where nothing did."""
    lasted = max(after.clock_s - before.clock_s, 1e-9)
    others = (after.used_s - before.used_s - (after.own_s - before.own_s)) / lasted
    switches = (after.involuntary_switches - before.involuntary_switches) / lasted
    waited = switches > SWITCHES_PER_S
    words = f"{switches:.0f} involuntary switches a second"
    if before.pressure_s is not None and after.pressure_s is not None:
        pressure = (after.pressure_s - before.pressure_s) / lasted
        waited = waited or pressure > WAITED_RATIO
        words += f", something waited for a CPU for {pressure:.0%} of the time"
    if others < OTHERS_CORES or not waited:
        return ""
    return f"others used {others:.1f} CPUs, {words}"


def disturbance_of_run(run: Path) -> str:
    """The same of a job that `unstarve run` watched, as the run's own samples say it: that its
    threads waited for a CPU, not only that somebody did."""
    with closing(sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)) as store:
        means = dict(
            store.execute(
                "SELECT metric.name, AVG(value) FROM sample JOIN metric ON metric.id = metric_id"
                " WHERE value IS NOT NULL GROUP BY metric.name"
            )
        )
    if "host.cpu_busy_cores" not in means:
        return ""
    job, own = means.get("job.cpu_cores", 0.0), means.get("unstarve.cpu_cores", 0.0)
    others = means["host.cpu_busy_cores"] - job - own
    waits = {
        "job.training_cpu_wait_ratio": WAITED_RATIO,
        "job.cpu_waiting_threads": WAITED_RATIO,
        "job.involuntary_switches_per_s": SWITCHES_PER_S,
    }
    waited = [name for name, most in waits.items() if means.get(name, 0.0) > most]
    if others < OTHERS_CORES or not waited:
        return ""
    return f"others used {others:.1f} CPUs, " + ", ".join(f"{n} {means[n]:.2f}" for n in waited)


def measured(
    measure: Callable[[], T],
    judge: Callable[[T], None],
    disturbance: Callable[[T], str] | None = None,
    now: Callable[[], Readings] = read_now,
) -> T:
    """What `measure` gave, once `judge` asserts nothing against it.

    `disturbance` says what disturbed a measurement, `disturbance_of_run` of its folder where it
    is a run; otherwise the kernel is asked what happened while it was measured.
    """
    seen = []
    for attempt in range(1, AT_MOST + 1):
        before = now()
        found = measure()
        after = now()
        try:
            judge(found)
        except AssertionError as objection:
            why = disturbance(found) if disturbance else disturbance_between(before, after)
            seen.append(f"measurement {attempt} ({why or 'undisturbed'}): {objection}")
            if not why or attempt == AT_MOST:
                raise AssertionError("\n".join(seen)) from objection
            continue
        return found
    raise AssertionError("a measurement either fails or is returned")
