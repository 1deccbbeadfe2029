"""`unstarve completion` and `unstarve manual`, as shells and `man` read them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import environment, unstarve


def completed(typed: list[str]) -> list[str]:
    """What bash offers for the last of these words, or nothing: then it offers files."""
    words = " ".join(f"'{word}'" for word in typed)
    script = (
        "source <(unstarve completion bash); "
        f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _unstarve; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["unstarve", "comp"], ["compare", "completion"]),
        (["unstarve", "--v"], ["--version"]),
        (["unstarve", "run", "--pr"], ["--price"]),
        (["unstarve", "runs", "pr"], ["prune"]),
        (["unstarve", "runs", "prune", "--keep"], ["--keep-days"]),
        # A value that is called as a command is one all the same.
        (["unstarve", "report", "run", "--ht"], ["--html"]),
        (["unstarve", "report", "ru"], []),
        # Behind `--` stands the job.
        (["unstarve", "run", "--", "python", "--ht"], []),
    ],
)
def test_bash_offers_what_may_follow(typed: list[str], offered: list[str]) -> None:
    assert completed(typed) == offered


def test_every_command_is_offered() -> None:
    said = unstarve("--help").stdout
    names = re.findall(r"^  ([a-z]+) ", said[said.index("Subcommands:") :], re.MULTILINE)
    assert len(names) > 18
    assert completed(["unstarve", ""]) == names


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_reads_it(shell: str, tmp_path: Path) -> None:
    done = unstarve("completion", shell)
    assert done.returncode == 0
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(done.stdout)
    before = "autoload -Uz compinit && compinit -D; " if shell == "zsh" else ""
    ask = f"{before}source {tmp_path}/script" + (
        "; complete -C 'unstarve runs pr'" if shell == "fish" else ""
    )
    read = subprocess.run([shell, "-c", ask], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")
    if shell == "fish":
        assert read.stdout.startswith("prune")


def test_another_shell_is_refused_by_name() -> None:
    done = unstarve("completion", "tcsh")
    assert done.returncode == 2
    assert "there is none for 'tcsh'; bash, zsh, fish" in done.stderr


def test_the_man_page_has_every_command_and_no_fault() -> None:
    page = unstarve("manual").stdout
    assert page.startswith('.TH UNSTARVE 1 "" "unstarve ')
    for name in ("run", "gate", "runs prune", "completion"):
        assert f".SS unstarve {name}\n" in page
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-b"],
        input=page,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    # Bold is a letter printed over itself.
    assert "--keep-days" in re.sub(".\x08", "", done.stdout)
