"""What the skill for agents tells them to type is there."""

from __future__ import annotations

import re

from command_line import ROOT, unstarve
from recorded import report_of

SKILL = (ROOT / "skills/unstarve/SKILL.md").read_text()


def commands() -> list[str]:
    """Every command line of the text, up to where the job begins."""
    lines = re.findall(r"`(unstarve [a-z][^`]*)`", SKILL) + re.findall(
        r"^    (unstarve .*)$", SKILL, re.MULTILINE
    )
    return [line.split(" -- ")[0] for line in lines]


def test_its_commands_and_options_exist() -> None:
    typed = commands()
    assert len(typed) > 10
    for line in typed:
        words = line.split()
        below = [words[1], words[2]] if words[1] == "runs" else [words[1]]
        shown = unstarve(*below, "--help")
        assert shown.returncode == 0, line
        for option in re.findall(r"--[a-z-]+", line):
            assert re.search(rf"(^|[ ,]){option}[ ,]", shown.stdout, re.MULTILINE), line


def test_its_keys_are_those_of_a_diagnosis() -> None:
    report = report_of("window_starved")
    for key in ("verdict", "partition", "findings", "next_remedy"):
        assert f"`{key}" in SKILL
        assert report[key]
    finding = report["findings"][0]
    assert {"cause", "detail", "share", "evidence"} <= set(finding)
    remedies = [one for each in report["findings"] for one in each["remedies"]]
    assert {"id", "how", "predicted"} <= set(remedies[0])


def test_it_begins_as_a_skill_does() -> None:
    head = SKILL.split("---\n")[1]
    assert re.match(r"name: unstarve\ndescription: >-\n(  .{10,}\n){1,8}$", head)
