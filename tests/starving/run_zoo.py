#!/usr/bin/env python3
"""Runs the zoo of starving jobs and says how many verdicts are right.

    tests/starving/run_zoo.py                      # all; sets D to H in counts alone
    tests/starving/run_zoo.py --set A --only few_shot
    tests/starving/run_zoo.py --measure            # also what the plants cost, into measured.json
    tests/starving/run_zoo.py --set H --measure-only  # nothing but that, and nobody watches

Exits 1 where the targets are missed or a job fails. See docs/starving.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from gains import score
from judging import NOTICEABLE, Judgement, confusion, judge, knows_change, totals_of
from planted import FOLDER, Cure, Job
from running import ROOT, Machine, brief_of, make_images, time_unwatched, watch
from set_a import SET_A
from set_b import SET_B
from set_c import SET_C
from set_d import SET_D
from set_e import SET_E
from set_f import SET_F
from set_g import SET_G
from set_h import SET_H

MEASURED = FOLDER / "measured.json"
SETS = {
    "A": SET_A,
    "B": SET_B,
    "C": SET_C,
    "D": SET_D,
    "E": SET_E,
    "F": SET_F,
    "G": SET_G,
    "H": SET_H,
}
HELD_OUT = (*SET_D, *SET_E, *SET_F, *SET_G, *SET_H)
Costs = dict[str, list[float]]


def read_costs() -> Costs:
    costs: Costs = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    return costs


def keep_costs(name: str, costs: list[float]) -> None:
    """Of one job, beside those of others that may have been measured meanwhile."""
    every = {**read_costs(), name: costs}
    MEASURED.write_text(json.dumps(dict(sorted(every.items())), indent=1) + "\n")


def measure(machine: Machine, job: Job, before_s: float, folder: Path) -> bool:
    """What the plants of a job cost: it is run without each of them, unwatched. Says whether all
    runs went well and the plants are what they are meant to be."""
    cures: list[Cure] = [plant.cure for plant in job.plants] or [job.cure]
    costs = []
    for cure in cures:
        # Where there is nothing to take out of the script, the neighbours are the plant.
        busy = job.neighbours if cure else 0
        after_s, printed = time_unwatched(machine, job, cure, folder, busy)
        if after_s is None:
            print(f"{job.name}: no steps without the plant\n{printed}", flush=True)
            return False
        costs.append(round(1 - after_s / before_s, 3))
        print(
            f"{job.name:22} {1e3 * before_s:8.1f} ms a step, {1e3 * after_s:8.1f} without: "
            f"{costs[-1]:6.1%}",
            flush=True,
        )
    keep_costs(job.name, costs)
    as_planted = (max(costs) >= NOTICEABLE) == bool(job.plants)
    if not as_planted:
        print(f"{job.name}: NOT AS PLANTED", flush=True)
    return as_planted


def measure_unwatched(machine: Machine, job: Job, folder: Path) -> bool:
    """The same, and the job as it is runs unwatched as well: nobody sees what is said of it."""
    before_s, printed = time_unwatched(machine, job, (), folder, job.neighbours)
    if before_s is None:
        print(f"{job.name}: no steps\n{printed}", flush=True)
        return False
    return measure(machine, job, before_s, folder)


def change_words(judged: Judgement) -> str:
    if judged.change_right is None:
        return ""
    right = "right" if judged.change_right else "WRONG"
    words = f" change {judged.change or 'none'} {right}{' HARMFUL' * judged.harmful}"
    return words + " CUT" * (judged.in_full is False)


def show(judged: Judgement, costs: list[float], step: float | None) -> None:
    causes = "+".join(plant.causes[0] for plant in judged.job.plants) or "healthy"
    measured = "+".join(f"{cost:.0%}" for cost in costs) if judged.job.plants else ""
    right = "right" if judged.cause_right else "WRONG"
    detail = "" if judged.healthy else ("right" if judged.detail_right else "WRONG")
    said = f"{judged.said}/{judged.detail}" if judged.detail else judged.said
    print(
        f"{judged.job.name:22} planted {causes + ' ' + measured:28} "
        f"said {f'{said} {judged.share:.0%}':34} cause {right} {detail and 'detail ' + detail:13}"
        f"{change_words(judged)}"
        f"{'' if step is None else f' {1e3 * step:.0f} ms a step'}"
        + "".join(f"; {tried}" for tried in judged.tried)
        + (f"; doubtful: {', '.join(judged.doubtful)}" if judged.doubtful else ""),
        flush=True,
    )


def summarise(name: str, judgements: list[Judgement]) -> bool:
    totals = totals_of(judgements)
    print(f"\nset {name}:")
    print("\n".join(f"  {line}" for line in confusion(judgements)))
    print(f"  top cause right       {totals.causes_right} of {totals.planted}")
    print(f"  detail or line right  {totals.details_right} of {totals.planted}")
    print(f"  healthy jobs accused  {totals.accused} of {totals.healthy}")
    if totals.changes:
        print(f"  change right          {totals.changes_right} of {totals.changes}")
        print(f"  change harmful        {totals.harmful} of {totals.changes + totals.healthy}")
        print(f"  told in full          {totals.in_full} of {totals.shown}")
    if totals.tried:
        print(f"  remedies tried {totals.tried}, {totals.slowed} of them slower")
        print(f"  {score([tried for judged in judgements for tried in judged.tried])}")
    print(f"  {json.dumps(asdict(totals))}", flush=True)
    return totals.reached


def run_set(
    machine: Machine, jobs: list[Job], arguments: argparse.Namespace, folder: Path
) -> tuple[list[Judgement], int]:
    """What was said of each job, and how many jobs gave no verdict."""
    judgements, failed = [], 0
    options = ["--fix", "--trial-seconds", str(machine.seconds)] if arguments.fix else []
    for job in jobs:
        told, step, printed = watch(machine, job, folder, options)
        if told is None:
            print(f"{job.name}: no verdict\n{printed}", flush=True)
            failed += 1
            continue
        if arguments.measure:
            failed += step is None or not measure(machine, job, step, folder)
        costs = read_costs().get(job.name, [])
        brief = brief_of(machine, job, folder) if knows_change(job) else ""
        judgements.append(judge(job, told, costs, brief))
        if job not in HELD_OUT or arguments.tell:
            show(judgements[-1], costs, step)
    return judgements, failed


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these jobs alone")
    parser.add_argument("--set", "--half", choices=list(SETS), help="one set alone")
    parser.add_argument(
        "--tell", action="store_true", help="D to H job by job, as they are not for"
    )
    parser.add_argument("--fix", action="store_true", help="also try the remedies")
    parser.add_argument(
        "--measure", action="store_true", help="also run without the plants, into measured.json"
    )
    parser.add_argument(
        "--measure-only", action="store_true", help="the same without watching, for held-out jobs"
    )
    parser.add_argument("--seconds", type=float, default=8, help="of training, for each job")
    parser.add_argument("--gpu", default="a100", help="to emulate; '' for the one that is there")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with PyTorch")
    parser.add_argument("--unstarve", type=Path, default=ROOT / "build/release/src/cli/unstarve")
    parser.add_argument("--data", type=Path, default=ROOT / "build/starving", help="for images")
    parser.add_argument("--keep", type=Path, help="a folder for the runs")
    return parser.parse_args()


def chosen(arguments: argparse.Namespace) -> dict[str, list[Job]]:
    unknown = set(arguments.only) - {job.name for jobs in SETS.values() for job in jobs}
    if unknown:
        sys.exit(f"no such job: {', '.join(sorted(unknown))}")
    sets = {
        name: [job for job in jobs if not arguments.only or job.name in arguments.only]
        for name, jobs in SETS.items()
        if arguments.set in (None, name)
    }
    return {name: jobs for name, jobs in sets.items() if jobs}


def main() -> int:
    arguments = parse_arguments()
    make_images(arguments.data)
    python = str(Path(arguments.python).absolute())
    machine = Machine(
        arguments.unstarve, python, arguments.gpu, arguments.data.absolute(), arguments.seconds
    )
    failed, reached = 0, True
    with tempfile.TemporaryDirectory(prefix="unstarve-zoo-") as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name, jobs in chosen(arguments).items():
            if arguments.measure_only:
                failed += sum(not measure_unwatched(machine, job, folder) for job in jobs)
                continue
            judgements, without = run_set(machine, jobs, arguments, folder)
            failed += without
            reached = summarise(name, judgements) and reached
    return 0 if reached and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
