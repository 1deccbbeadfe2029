"""`unstarve emulate` and `run --emulate`: what they say, pass on and leave behind."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from emulation import PYTHON, ROOT, UNSTARVE, unstarve

ENVIRONMENT = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
FIRST_LINE = "unstarve: emulating 1 x NVIDIA A100-SXM4-80GB: nothing is computed"


def settings_of(*arguments: str) -> tuple[dict[str, object], dict[str, str], str]:
    """The settings that a job finds, its environment, and what is said on stderr."""
    show = "import os; print(open(os.environ['UNSTARVE_EMULATED_GPU']).read())"
    done = unstarve("emulate", *arguments, "--", sys.executable, "-c", show)
    assert done.returncode == 0, done.stderr
    environment = json.loads(unstarve("emulate", *arguments, "--", *ENVIRONMENT).stdout)
    return json.loads(done.stdout), environment, done.stderr


def test_a_job_finds_settings_and_libraries() -> None:
    settings, environment, said = settings_of("a100")
    assert said.startswith(FIRST_LINE)
    assert "results are zeros" in said.splitlines()[0]
    assert "roofline" in said.splitlines()[0]
    assert settings["gpus"] == 1
    assert settings["scale"] == 1
    profile = settings["profile"]
    assert isinstance(profile, dict)
    assert profile["device_name"] == "Emulated NVIDIA A100-SXM4-80GB"
    state = Path(environment["UNSTARVE_EMULATED_GPU"]).parent
    assert not state.exists()
    redirect = Path(environment["LD_AUDIT"])
    assert redirect.name == "libunstarve_redirect.so"
    assert redirect.exists()
    assert Path(environment["TRITON_LIBCUDA_PATH"]) == redirect.parent


def test_gpus_memory_and_scale_reach_the_settings() -> None:
    settings, _, said = settings_of("l4", "--gpus", "4", "--memory", "20", "--scale", "1.25")
    assert "4 x NVIDIA L4" in said
    assert settings["gpus"] == 4
    assert settings["scale"] == 1.25
    profile = settings["profile"]
    assert isinstance(profile, dict)
    assert profile["architecture"]["total_memory_bytes"] == 20 * 2**30


def test_ci_names_the_gpu_by_a_variable(tmp_path: Path) -> None:
    env = {**os.environ, "UNSTARVE_EMULATE": "h100"}
    done = unstarve("emulate", "--", "true", env=env)
    assert "H100" in done.stderr
    done = unstarve("emulate", "l4", "--", "true", env=env)
    assert "L4" in done.stderr
    done = unstarve("run", "--out", str(tmp_path / "run"), "--", "true", env=env)
    assert "emulating 1 x NVIDIA H100" in done.stderr
    assert done.returncode == 0


def test_an_audit_library_of_the_user_is_kept(tmp_path: Path) -> None:
    theirs = str(tmp_path / "theirs.so")
    env = {**os.environ, "LD_AUDIT": theirs}
    script = "import os; print(os.environ['LD_AUDIT'])"
    done = unstarve("emulate", "--", sys.executable, "-c", script, env=env)
    assert done.stdout.strip().endswith(f"libunstarve_redirect.so:{theirs}")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["a100"], 2, "the job goes after `--`"),
        (["a100", "--"], 2, "the job goes after `--`"),
        (["a100", "l4", "--", "true"], 2, "one GPU is named before `--`, not also 'l4'"),
        (["nonesuch", "--", "true"], 2, "nonesuch"),
        (["--gpus", "0", "--", "true"], 2, "--gpus"),
        (["--memory", "-1", "--", "true"], 2, "--memory"),
        (["--", "no-such-command"], 127, "no such command"),
        (["--", "/etc/passwd"], 126, "not an executable file"),
    ],
)
def test_wrong_usage_is_named(arguments: list[str], code: int, says: str) -> None:
    done = unstarve("emulate", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr


@pytest.mark.parametrize(
    "command", [["sh", "-c", "exit 3", "--", "x"], ["bash", "-c", "kill -9 $$"]]
)
def test_the_exit_code_is_the_jobs(command: list[str]) -> None:
    alone = subprocess.run(command).returncode
    done = unstarve("emulate", "a100", "--", *command)
    assert done.returncode == (alone if alone >= 0 else 128 - alone)


def test_a_limit_ends_the_job_and_all_that_it_started(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    started = time.monotonic()
    job = f"sleep 1000 & echo $! > {pid_file}; wait"
    done = unstarve("emulate", "--limit", "1.5", "--", "bash", "-c", job)
    assert done.returncode == 124
    assert 1.4 < time.monotonic() - started < 60
    assert "1.5 s" in done.stderr
    # A background job of a shell ignores SIGINT. One that was killed may take a moment to go.
    with suppress(ProcessLookupError):
        job_left = os.pidfd_open(int(pid_file.read_text()))
        ended, _, _ = select.select([job_left], [], [], 30)
        os.close(job_left)
        assert ended


def test_a_job_that_never_used_the_gpu_is_told_so() -> None:
    done = unstarve("emulate", "--", "true")
    assert "never used a GPU" in done.stderr.splitlines()[-1]


def test_what_was_seen_is_said_at_the_end() -> None:
    script = """
import torch
x = torch.randn(512, 512, device="cuda")
for _ in range(20):
    y = x @ x
print(y.cpu().shape)
"""
    done = unstarve("emulate", "a100", "--", PYTHON, "-c", script)
    assert (done.returncode, done.stdout) == (0, "torch.Size([512, 512])\n"), done.stderr
    last = done.stderr.splitlines()[-1]
    assert "kernels" in last
    assert "busy" in last
    assert "roofline" in last
    shown = re.search(
        r"busy for ([\d.]+) of .* roofline: ([\d.e-]+) to ([\d.e-]+) s on a real GPU", last
    )
    assert shown, last
    busy_s, least_s, most_s = map(float, shown.groups())
    assert least_s == pytest.approx(0.92 * busy_s, rel=0.02)
    assert most_s == pytest.approx(1.12 * busy_s, rel=0.02)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_job_and_leaves_nothing(ending: signal.Signals) -> None:
    script = (
        "import os, time\n"
        "print(os.path.dirname(os.environ['UNSTARVE_EMULATED_GPU']), flush=True)\n"
        "time.sleep(600)"
    )
    run = subprocess.Popen(
        [str(UNSTARVE), "emulate", "--", sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert run.stdout
    state = Path(run.stdout.readline().strip())
    assert state.is_dir()
    run.send_signal(ending)
    assert run.wait(timeout=30) != 0
    assert not state.exists()


def test_the_first_thing_that_a_torch_without_cuda_gets_is_what_to_install(tmp_path: Path) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('not imported to be looked at')")
    (package / "version.py").write_text("__version__ = '2.8.0+cpu'\ncuda: str | None = None\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = unstarve("emulate", "--", sys.executable, "-c", "pass", env=env)
    assert "built for the CPU alone" in done.stderr
    assert "pip install --no-deps --force-reinstall torch==2.8.0" in done.stderr


def test_a_program_that_cannot_be_given_libraries_is_named(tmp_path: Path) -> None:
    static = tmp_path / "static"
    source = tmp_path / "static.c"
    source.write_text("int main(void) { return 0; }")
    if subprocess.run(["cc", "-static", "-o", static, source]).returncode != 0:
        pytest.skip("no static C library to build a program with")
    done = unstarve("emulate", "--", str(static))
    assert done.returncode == 0
    assert "statically linked" in done.stderr


TRAINING = """
import time, torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 10_000
    def __getitem__(self, index):
        time.sleep(0.004)  # for a disk, say: no CPU is used
        return torch.zeros(3, 96, 96), 0

model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 64, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(10)
).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, (images, labels) in enumerate(DataLoader(Slow(), batch_size=8)):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
    loss.backward()
    optimizer.step()
    loss.item()
    if step == 40:
        break
print("trained")
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a job that was watched, its page and its diagnosis; and what was said."""
    folder = tmp_path_factory.mktemp("watched")
    job = folder / "train.py"
    job.write_text(TRAINING)
    done = unstarve(
        *["run", "--emulate", "a100", "--out", str(folder / "run")],
        *["--html", str(folder / "page.html"), "--json", str(folder / "run.json")],
        *["--", PYTHON, str(job)],
    )
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    return folder, done.stderr


def test_a_watched_job_is_diagnosed_on_the_emulated_gpu(watched: tuple[Path, str]) -> None:
    folder, _ = watched
    diagnosis = json.loads((folder / "run.json").read_text())
    (device,) = diagnosis["devices"]
    assert device["emulated"]
    assert device["name"] == "Emulated NVIDIA A100-SXM4-80GB"
    assert diagnosis["partition"]["gpu_compute"] > 0
    assert diagnosis["emulated_durations"]["from"] == "roofline"
    assert diagnosis["emulated_durations"]["real_over_modelled"]["half"] == [0.92, 1.12]
    # The short form gives up this sentence where a busy machine takes more words.
    verbose = unstarve("report", str(folder / "run"), "--verbose")
    told = " ".join(verbose.stdout.split())
    assert told.count("a real one takes 0.92 to 1.12 times as long") == 1
    assert told.count("published figures") == 1, "how far durations may be from real ones"
    assert diagnosis["findings"][0]["cause"] == "input_wait"
    assert "NVIDIA A100-SXM4-80GB (emulated)" in (folder / "page.html").read_text()


def test_of_a_gpu_without_errors_none_is_said(watched: tuple[Path, str]) -> None:
    folder, said = watched
    assert "XID" not in said
    assert "gpu_errors" not in json.loads((folder / "run.json").read_text())


def test_a_loop_that_waits_for_a_value_is_warned_of_and_ended() -> None:
    script = "import torch\nx = torch.zeros(1, device='cuda')\nwhile x.item() < 1: x = x + 1"
    done = unstarve("emulate", "--limit", "14", "--", PYTHON, "-c", script)
    assert done.returncode == 124
    assert "it never ends, for all are zeros" in done.stderr
    assert "KeyboardInterrupt" in done.stderr


ASKS = """
import torch
state = torch.ones(64, device="cuda") + 1

def asked(question):
    count = 1
    while not question():
        count += 1
    return count

print([asked(lambda: (state > 0).all()) for _ in range(3)])
pinned = torch.empty(1, dtype=torch.bool, pin_memory=True)
print(asked(lambda: pinned.copy_((state > 0).all().reshape(1)).item()))
print(state.max().item(), (state > 0).sum().item())
"""


def test_a_loop_that_asks_whether_it_is_done_ends_as_told() -> None:
    done = unstarve("emulate", "--limit", "60", "--true-every", "5", "--", PYTHON, "-c", ASKS)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[5, 5, 5]\n5\n0.0 0\n", "values of more bytes stay zeros"


def test_a_function_that_is_not_emulated_is_named() -> None:
    script = "import ctypes; print(ctypes.CDLL('libcufile.so.0').cuFileRead())"
    done = unstarve("emulate", "--", sys.executable, "-c", script)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) != 0
    assert "the job called cuFileRead (libcufile.so.0), which is not emulated" in done.stderr


def test_a_job_that_changes_its_folder_is_watched_and_so_is_one_within_an_emulation(
    tmp_path: Path,
) -> None:
    job = tmp_path / "train.py"
    job.write_text("import os\nos.chdir('/')\n" + TRAINING)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name, begin in (
        ("outside", [str(UNSTARVE), "run", "--emulate", "a100"]),
        ("within", [str(UNSTARVE), "emulate", "a100", "--", str(UNSTARVE), "run"]),
    ):
        run = subprocess.run(
            [*begin, "--out", name, "--json", f"{name}.json", "--", PYTHON, str(job)],
            cwd=elsewhere,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stderr
        diagnosis = json.loads((elsewhere / f"{name}.json").read_text())
        assert diagnosis["partition"]["gpu_compute"] > 0, run.stderr
        assert "NVIDIA A100-SXM4-80GB (emulated)" in run.stderr


def test_durations_come_from_a_trace_of_a_real_gpu(tmp_path: Path) -> None:
    trace = ROOT / "tests/data/traces"
    recorded = next(trace.glob("resnet50_num_workers_0*"))
    script = (
        "import torch\n"
        "print(torch.cuda.get_device_name())\n"
        "x = torch.randn(256, 64, 56, 56, device='cuda')\n"
        "torch.relu(x)\n"
        "torch.cuda.synchronize()"
    )
    done = unstarve("emulate", str(recorded), "--", PYTHON, "-c", script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Emulated ")
    assert recorded.name in done.stderr.splitlines()[0]
    settings, _, said = settings_of("l4", "--durations", str(recorded))
    assert "1 x NVIDIA L4" in said
    assert settings["durations"]
    broken = tmp_path / "trace.json"
    broken.write_text('{"traceEvents": [')
    done = unstarve("emulate", str(broken), "--", "true")
    assert done.returncode == 2
    assert str(broken) in done.stderr
