"""Words about the process, its data sets and its errors, small enough for a ring's text.

Everything here looks at objects of the job: nothing may run the job's code for longer than a
`len()`, and nothing may fail because of it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from types import FrameType
from typing import Any

from . import secrets, skipping
from .lines import places
from .ring import TEXT_BYTES

_LONGEST = 120  # characters of one repr or argument, which are only shown
_LONGEST_ERROR = 200
#: Whose __repr__ is known to be short, quick and without side effects.
_PLAIN_REPR = ("torchvision.", "torch.nn.", "albumentations.", "timm.")


def process() -> dict[str, Any]:
    facts: dict[str, Any] = {
        "pid": os.getpid(),
        "ppid": os.getppid(),
        "python": sys.version.split()[0],
    }
    try:
        facts["cpu_mask"] = f"{sum(1 << cpu for cpu in os.sched_getaffinity(0)):x}"
    except (AttributeError, OSError):
        pass  # Not on this system.
    words = [str(word) for word in getattr(sys, "argv", [])[:20]]
    facts["argv"] = [_cut(word) for word in secrets.hidden(words)]
    torch = sys.modules.get("torch")
    if torch is not None:
        facts["torch"] = str(getattr(torch, "__version__", ""))
    facts["packages"] = _packages()
    for key in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        if os.environ.get(key, "").isdigit():
            facts[key.lower()] = int(os.environ[key])
    return facts


#: Packages whose version may change what a job costs.
_PACKAGES = (
    "torchvision",
    "numpy",
    "PIL",
    "cv2",
    "albumentations",
    "timm",
    "datasets",
    "transformers",
    "accelerate",
    "lightning",
    "pytorch_lightning",
    "webdataset",
)


def _packages() -> dict[str, str]:
    """The versions of those that the job has imported, as they say them."""
    versions = {}
    for name in _PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str):
            versions[name] = version[:30]
    return versions


def gradient_bytes(optimizer: Any) -> int:
    """Of the parameters that an optimizer trains: what ranks would exchange after each step."""
    groups = getattr(optimizer, "param_groups", [])
    tensors = [tensor for group in groups for tensor in group["params"]]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors if tensor.requires_grad)


def error_text(error: Exception) -> str:
    """One line with the place in our code, for `hook_errors`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = ""
    if trace is not None:
        file = os.path.basename(trace.tb_frame.f_code.co_filename)
        place = f" ({file}:{trace.tb_lineno})"
    return _cut(secrets.hidden_in(f"{type(error).__name__}: {error}{place}"))


def last_error() -> dict[str, str]:
    """What Python reports as the reason why this process ends; empty where it reports nothing."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if not isinstance(error, Exception):
        return {}  # Ctrl-C among them
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else class_name(error)
    found = {"kind": name}
    of_worker = _WORKERS_ERROR.match(str(error))
    if of_worker:
        return {**found, **_error_of_worker(of_worker)}
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if places.kind_of(file) == places.USERS:
            found["place"] = places.place(file, trace.tb_lineno)
        trace = trace.tb_next
    try:
        words = " ".join(secrets.hidden_in(str(error)).split())
        found["message"] = words[:_LONGEST_ERROR]
    except Exception:
        pass  # Python's own report has no words either.
    return found


#: As torch raises again what a worker raised: by its type, with the worker's traceback for words.
_WORKERS_ERROR = re.compile(r"Caught \S+ (in .+)\.\nOriginal Traceback .*\n((?:.*\n)*)", re.M)
_LINE_OF_TRACEBACK = re.compile(r'^  File "(.+)", line (\d+), in ', re.M)


def _error_of_worker(raised: re.Match[str]) -> dict[str, str]:
    """Where the worker raised it, and its own words."""
    where, trace = raised.groups()
    found = {}
    for file, line in _LINE_OF_TRACEBACK.findall(trace):
        if places.kind_of(file) == places.USERS:
            found["place"] = places.place(file, int(line))
    # Behind the last line of the traceback, which is indented, stand the type and the words.
    words = re.split(r"^ .*\n", trace, flags=re.M)[-1]
    own = " ".join(secrets.hidden_in(words.partition(": ")[2]).split())
    found["message"] = f"{own} ({where})"[:_LONGEST_ERROR]
    return found


def fit(facts: dict[str, Any]) -> bytes:
    """JSON of at most TEXT_BYTES bytes: what matters least is left out first."""
    least_first = (
        "loaders",
        "argv",
        "packages",
        "transforms",
        "hook_errors",
        "fetch_calibration",
        "ended_by",
        "dataset",
    )
    for without in (None, *least_first):
        if without is not None:
            facts.pop(without, None)
            facts["left_out"] = [*facts.get("left_out", []), without]
        # Bytes that are no UTF-8, of a script's name for example, are surrogates in Python's text.
        # JSON has none, and a reader would refuse all of the text for one of them.
        text = json.dumps(facts, ensure_ascii=False).encode("utf-8", "replace")
        if len(text) <= TEXT_BYTES:
            return text
    return b"{}"


def dataset(data: Any) -> dict[str, Any]:
    """Class, length and root of a data set, seen through wrappers such as torch's Subset."""
    facts: dict[str, Any] = {"class": class_name(data)}
    if _is_stream(data):
        facts["stream"] = True
        facts.update(skipping.of_stream(data))
    try:
        facts["length"] = len(data)
    except Exception:
        pass  # Absent is absent.
    files = _innermost(data)
    if files is not data:
        facts["files_class"] = class_name(files)
    facts.update(root(_folder(files)))
    return facts


def _is_stream(data: object) -> bool:
    module: Any = sys.modules.get("torch.utils.data.dataset")
    return module is not None and isinstance(data, module.IterableDataset)


def _folder(files: object) -> Any:
    """Where a data set's files lie: its root, or, of ImageNet, the split's folder in it."""
    folder = _attribute(files, "root")
    split = _attribute(files, "split")
    if class_name(files) == "torchvision.datasets.imagenet.ImageNet" and isinstance(split, str):
        return os.path.join(os.fsdecode(folder), split)
    return folder


def root(path: object) -> dict[str, str]:
    """Where data lie, for whoever opens them: never cut, and from the root of the file system on,
    since the job's working directory is not the reader's. `root_hex` has the bytes of a path that
    is no UTF-8, which `root` only shows."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return {}
    try:
        # Not abspath(): `link/..` is not the folder that holds `link`.
        whole = os.path.join(os.getcwd(), os.fsdecode(path))
        octets = os.fsencode(whole)
        shown = octets.decode("utf-8", "replace")
        return (
            {"root": shown}
            if shown.encode() == octets
            else {"root": shown, "root_hex": octets.hex()}
        )
    except Exception:
        return {}  # A working directory that was removed: nobody can say where the data are.


def transforms(data: object) -> list[str]:
    """The steps of the data set's transform; objects of unknown classes by their class name."""
    transform = _attribute(_innermost(data), "transform")
    if transform is None:
        return []
    steps = _attribute(transform, "transforms")
    if not isinstance(steps, (list, tuple)):
        steps = [transform]
    return [_in_words(step) for step in steps[:16]]


def place_of_user_code(frame: FrameType | None) -> str | None:
    """`file.py:41` of the innermost frame that belongs to no library."""
    while frame is not None:
        code = frame.f_code
        if places.kind_of(code.co_filename) == places.USERS:
            return places.place(code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def class_name(thing: object) -> str:
    kind = type(thing)
    return _cut(f"{kind.__module__}.{kind.__qualname__}")


def _innermost(data: object) -> object:
    for _ in range(4):
        inner = _attribute(data, "dataset")
        if inner is None:
            break
        data = inner
    return data


def _attribute(thing: object, name: str) -> Any:
    """An instance's own attribute; never a property or a `__getattr__` of the job."""
    return getattr(thing, "__dict__", {}).get(name)


def _in_words(step: object) -> str:
    if type(step).__module__.startswith(_PLAIN_REPR):
        try:
            return _cut(" ".join(repr(step).split()))
        except Exception:
            pass
    return _cut(getattr(step, "__qualname__", "") or class_name(step))


def _cut(text: object) -> str:
    words = str(text)
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "\u2026"
