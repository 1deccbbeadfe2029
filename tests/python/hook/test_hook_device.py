"""Image decoding, blocking calls and the profiled window; the CPU stands in for a GPU."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hook_jobs import HOOK, environment, run_job, run_python
from PIL import Image

JOB = """
import io, sys, torch, torchvision
from PIL import Image
from torch.utils.data import DataLoader

class Photos:
    def __init__(self):
        file = io.BytesIO()
        Image.effect_noise((300, 300), 50).convert("RGB").save(file, "jpeg")
        self.data = file.getvalue()
    def __len__(self):
        return 40
    def __getitem__(self, index):
        if index % 2:
            image = torchvision.io.decode_jpeg(
                torch.frombuffer(bytearray(self.data), dtype=torch.uint8))
        else:
            image = torchvision.transforms.functional.pil_to_tensor(
                Image.open(io.BytesIO(self.data)).convert("RGB"))
        return image.float().mean((1, 2))

torch.set_num_threads(1)
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
for step, images in enumerate(DataLoader(Photos(), batch_size=2)):
    if step == int(sys.argv[1]):
        profiler.start()
    optimizer.zero_grad()
    loss = model(images).sum()
    loss.backward()
    optimizer.step()
    loss.item()
    if step == int(sys.argv[1]) + 2:
        profiler.stop()
        print(len(profiler.events()) > 10)

class Scripted(torch.nn.Module):
    def forward(self, data):
        return torchvision.io.decode_jpeg(data)
torch.jit.script(Scripted())
try:
    torch.zeros(2).item()
except RuntimeError:
    sys.exit("as expected")
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("job") / "train.py"
    path.write_text(JOB)
    return path


DECODED = """
import sys, time, types
sys.path.insert(0, sys.argv[1])
from _unstarve_hook import decode

def burn(seconds):
    start = time.thread_time()
    while time.thread_time() - start < seconds:
        pass

class ImageFile:
    def __init__(self):
        self.tile = ["not read yet"]
    def load(self):
        burn(0.01 if self.tile else 0)
        self.tile = []
    def convert(self, mode):
        self.load()
        burn(0.02)

decode.watch_pil(types.SimpleNamespace(ImageFile=ImageFile))

def decoding_ms(*calls):
    outer, image = decode.enter_fetch(), ImageFile()
    for name, *arguments in calls:
        getattr(image, name)(*arguments)
    return decode.leave_fetch(outer) / 1e6

print(decoding_ms(("load",)), decoding_ms(("convert", "RGB")),
      decoding_ms(("load",), ("convert", "L"), ("load",)))
"""


def step_marks(run: Path) -> list[dict[str, Any]]:
    events = json.loads(gzip.decompress((run / "kineto-0.json.gz").read_bytes()))["traceEvents"]
    return [e for e in events if e.get("name", "").startswith("ProfilerStep#")]


def steps_in(trace: Path) -> list[str]:
    return sorted(e["name"] for e in step_marks(trace.parent))


def test_a_file_that_is_made_rgb_is_decoded_and_what_comes_after_is_not() -> None:
    done = run_python(["-c", DECODED, str(HOOK)], dict(os.environ))
    loaded, converted, loaded_before = map(float, done.stdout.split())
    assert 10 <= loaded < 20 and 30 <= converted < 40, done.stdout
    assert 10 <= loaded_before < 20, done.stdout


LOOKED_AT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from PIL import Image, ImageFile, JpegImagePlugin, PngImagePlugin
from _unstarve_hook import decode
from _unstarve_hook.lines import stacks

decode.watch_pil(ImageFile)
decode.watch_jpeg(JpegImagePlugin)
decode.watch_png(PngImagePlugin)
prepare = ImageFile.ImageFile.load_prepare

def facts_of(frame):
    while frame is not None:
        yield frame.f_code, frame.f_lasti, frame.f_lineno, frame.f_globals
        frame = frame.f_back

def looking(image):
    seen = stacks.look(facts_of(sys._getframe(1)))
    print(stacks.in_words(seen).decode())
    return prepare(image)

ImageFile.ImageFile.load_prepare = looking

def opened(path):
    return Image.open(path).convert("RGB")

for path in sys.argv[2:]:
    opened(path)
"""


def test_looks_at_the_stack_tell_images_that_are_opened(tmp_path: Path) -> None:
    files = [tmp_path / "one.jpg", tmp_path / "one.png", tmp_path / "one.gif"]
    for file in files:
        Image.new("RGB", (9, 9)).save(file)
    script = tmp_path / "look.py"
    script.write_text(LOOKED_AT)
    done = run_python([script, HOOK, *files], dict(os.environ))
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    marks = [one["in"] for one in seen]
    assert marks == [["decode", "jpeg"], ["decode", "png"], ["decode"]], done.stderr
    assert seen[0]["callee"] == seen[1]["callee"] == "PIL/Image.py convert"


def test_decoding_blocking_calls_and_the_window(script: Path, tmp_path: Path) -> None:
    env = {"UNSTARVE_PROFILE_DEVICE": "cpu", "UNSTARVE_PROFILE_STEPS": "5..8"}
    job = run_job(tmp_path, ["-W", "ignore", script, 99], (), **env)
    assert (job.process.returncode, job.process.stderr) == (1, "as expected\n")
    assert job.errors == []
    for fetch in job.main.of("fetch"):
        assert 0 < fetch["decode_ns"] < fetch["end_ns"] - fetch["start_ns"]
    assert len(job.main.of("step")) == 20
    assert len(job.main.of("sync")) >= 16  # Seen from the third step on.
    assert steps_in(tmp_path / "kineto-0.json.gz") == [
        "ProfilerStep#6",
        "ProfilerStep#7",
        "ProfilerStep#8",
    ]
    profile = job.main.text["profile"]
    assert profile["file"] == "kineto-0.json.gz"
    assert profile["stop_cost_ns"] > 0
    # What aligns the file's clock with the run's: each step of it begins between two readings.
    assert [step for step, _, _ in profile["marks"]] == [6, 7, 8]
    assert all(0 < after - before < 1e9 for _, before, after in profile["marks"])
    begins = {int(e["name"].partition("#")[2]): e["ts"] * 1e3 for e in step_marks(tmp_path)}
    offsets = [((a + b) / 2 - begins[step], (b - a) / 2) for step, a, b in profile["marks"]]
    for offset, error in offsets:
        assert abs(offset - offsets[-1][0]) <= error + offsets[-1][1] + 20_000
    held_from, held_to = profile["held_up"]
    assert profile["marks"][-1][2] < held_from < held_to


def test_the_job_s_own_profiler_ends_the_window(script: Path, tmp_path: Path) -> None:
    plain = run_python([script, 7], environment())
    env = {"UNSTARVE_PROFILE_DEVICE": "cpu", "UNSTARVE_PROFILE_STEPS": "5..12"}
    job = run_job(tmp_path, [script, 7], (), **env)
    assert (job.process.returncode, job.process.stdout) == (plain.returncode, plain.stdout)
    assert job.process.stdout == "True\n"
    assert job.main.text["profile"]["ended_early"] == "the job started a profiler"
    assert steps_in(tmp_path / "kineto-0.json.gz") == ["ProfilerStep#6", "ProfilerStep#7"]


# Ends, forks or trains elsewhere while the window is open.
SHORT = """
import os, sys, threading, warnings, torch
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train():
    for step in range(8):
        optimizer.zero_grad()
        model(torch.zeros(2, 3)).sum().backward()
        optimizer.step()
        if step == 6 and sys.argv[1] == "forks":
            child = os.fork()
            if child == 0: os._exit(5)
            os.waitpid(child, 0)
    if sys.argv[1] == "raises": raise ValueError("as it is")
    if sys.argv[1] == "exits": sys.exit(7)
def half(rows):
    return torch.relu(rows)
class Forks(torch.nn.Module):
    def forward(self, rows):
        return torch.jit.wait(torch.jit.fork(half, rows))
if sys.argv[1] == "forks tasks":
    torch.jit.script(Forks())(torch.ones(2))
    torch.__version__ = "2.4.1+cpu"
if sys.argv[1] == "in a thread":
    thread = threading.Thread(target=train); thread.start(); thread.join()
else:
    train()
"""


@pytest.mark.parametrize(
    ("how", "code", "profile"),
    [
        ("ends", 0, {"ended_early": "the job ended"}),
        ("raises", 1, {"ended_early": "the job ended"}),
        ("exits", 7, {"ended_early": "the job ended"}),
        ("forks", 0, {"ended_early": "the job forked"}),
        ("in a thread", 0, {"skipped": "the job trains beside its main thread"}),
        (
            "forks tasks",
            0,
            {"skipped": "PyTorch before 2.5 may crash where forked tasks are profiled"},
        ),
    ],
)
def test_a_window_that_is_open_costs_nobody_his_job(
    tmp_path: Path, how: str, code: int, profile: dict[str, str]
) -> None:
    """A profiler at work at the interpreter's end would end the process by a signal."""
    script = tmp_path / "short.py"
    script.write_text(SHORT)
    env = {"UNSTARVE_PROFILE_DEVICE": "cpu", "UNSTARVE_PROFILE_STEPS": "5..20"}
    job = run_job(tmp_path, [script, how], (), **env)
    assert job.process.returncode == code, job.process.stderr
    assert job.process.stdout == ""
    assert job.process.stderr == "" or how == "raises", job.process.stderr
    assert job.errors == []
    assert profile.items() <= job.main.text["profile"].items()
    if "ended_early" in profile:
        assert steps_in(tmp_path / "kineto-0.json.gz")[0] == "ProfilerStep#6"


def test_without_a_gpu_nothing_of_it_happens(script: Path, tmp_path: Path) -> None:
    job = run_job(tmp_path, ["-W", "ignore", script, 99])
    assert job.main.of("sync") == []
    assert "profile" not in job.main.text
    assert list(tmp_path.glob("kineto*")) == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CUDA_INJECTION64_PATH", "/opt/nsight/libToolsInjection64.so"),
        ("NSYS_PROFILING_SESSION_ID", "7"),
    ],
)
def test_a_tool_that_wants_cupti_for_itself_has_it(
    script: Path, tmp_path: Path, variable: str, value: str
) -> None:
    env = {"UNSTARVE_PROFILE_DEVICE": "cpu", "UNSTARVE_PROFILE_STEPS": "5..8", variable: value}
    job = run_job(tmp_path, ["-W", "ignore", script, 99], (), **env)
    assert job.process.returncode == 1
    assert job.errors == []
    assert job.main.text["profile"] == {"skipped": f"{variable} is set"}
    assert not list(tmp_path.glob("kineto-*"))


# Without an optimizer of torch's: it infers, or makes its own steps, from some batch on.
BY_HAND = """
import sys, torch
from torch.utils.data import DataLoader
weights = torch.nn.Parameter(torch.ones(3))
for number, rows in enumerate(DataLoader(torch.ones(60, 3), batch_size=3)):
    loss = (rows * weights).sum()
    if number >= int(sys.argv[1]):
        loss.backward()
        weights.data -= 0.1 * weights.grad
"""


@pytest.mark.parametrize(("trains_from", "gradients"), [(0, True), (15, True), (99, False)])
def test_a_job_without_an_optimizer_says_whether_it_trains(
    tmp_path: Path, trains_from: int, gradients: bool
) -> None:
    (tmp_path / "job.py").write_text(BY_HAND)
    job = run_job(tmp_path, [tmp_path / "job.py", trains_from])
    assert (job.process.returncode, job.process.stderr, job.errors) == (0, "", [])
    assert job.main.text["trains_on"]["gradients"] is gradients
