"""One thread's stack, as plain facts that hold no frame, and in words for the file of names.

Who holds a frame holds the locals of a function of the job. So our library looks at frames and lets
them go before anything else is done (alarm.py); `look` and `in_words` only get what it gave.
"""

from __future__ import annotations

import json
import linecache
import sys
from collections.abc import Iterable
from types import CodeType
from typing import Any, NamedTuple

from .deferral import without_wait
from .places import OURS, USERS, kind_of, library_name, place

#: Functions of the job around its innermost one that are named.
_MOST_CALLERS = 4
_MOST_METHODS = 12
_LONGEST_CALL = 60
_LONGEST_NAME = 160
_LONGEST_TEXT = 4000

#: What a frame of ours says of the frames inside it, by the file and the function's name.
FETCH, WAIT, COLLATE, DECODE, SYNC = 1, 2, 4, 8, 16
#: The job's own code inside a loader's `__next__`, outside of a fetch: its sampler.
ORDER = 32
#: Making an iterator: with workers the first batches are chosen there. Told by ORDER alone.
_ITER = 64
JPEG, PNG = 128, 256
_MARKS = {
    ("loaders.py", "fetch"): FETCH,
    ("loaders.py", "__next__"): WAIT,
    ("loaders.py", "__iter__"): _ITER,
    ("loaders.py", "__call__"): COLLATE,
    ("decode.py", "decoder"): DECODE,
    ("decode.py", "jpeg"): JPEG,
    ("decode.py", "png"): PNG,
    ("blocking.py", "method"): SYNC,
    ("blocking.py", "function"): SYNC,
}
_MARK_WORDS = (
    (FETCH, "fetch"),
    (WAIT, "wait"),
    (COLLATE, "collate"),
    (DECODE, "decode"),
    (JPEG, "jpeg"),
    (PNG, "png"),
    (SYNC, "sync"),
    (ORDER, "order"),
)
#: Methods by which a transform does its work.
_METHODS = frozenset(("__call__", "forward", "transform", "apply"))
#: Classes that hold transforms, or that every transform is derived from.
_CONTAINERS = frozenset(
    (
        "Compose", "BaseCompose", "Sequential", "RandomApply", "RandomChoice", "RandomOrder",
        "OneOf", "SomeOf", "Transform", "Module", "BasicTransform", "DualTransform",
        "ImageOnlyTransform", "NoOp",
    )
)  # fmt: skip

Key = tuple[int, ...]
#: Of a frame: its code, the instruction, the line, and the globals.
Facts = tuple[CodeType, int, int, dict[str, Any]]


class Look(NamedTuple):
    """What one stack was, without its frames. `key` is the same for stacks that read the same."""

    key: Key
    marks: int
    top: CodeType | None
    line: tuple[CodeType, int, int] | None  # the innermost of the job: code, instruction, line
    callee: CodeType | None  # that it called, of a library
    callers: tuple[CodeType, ...]
    methods: tuple[tuple[CodeType, dict[str, Any]], ...]  # from the fetch inwards


def look(frames: Iterable[Facts]) -> Look:
    """What there is to know of a stack, from its innermost frame outwards."""
    marks = 0
    top: CodeType | None = None
    line: tuple[CodeType, int, int] | None = None
    inner: CodeType | None = None
    callee: CodeType | None = None
    callers: list[CodeType] = []
    methods: list[tuple[CodeType, dict[str, Any]]] = []
    for code, instruction, number, names in frames:
        kind = kind_of(code.co_filename)
        if kind == OURS:
            mark = _mark(code)
            if mark in (WAIT, _ITER) and line is not None and not marks & COLLATE:
                mark |= ORDER
            marks |= mark
        else:
            if top is None:
                top = code
            if kind == USERS:
                if line is None:
                    line = (code, instruction, number or 0)
                    callee = inner
                elif len(callers) < _MOST_CALLERS:
                    callers.append(code)
            # A library's method around the job's own code calls that: the line there says more.
            works = kind == USERS or line is None
            if works and code.co_name in _METHODS and len(methods) < _MOST_METHODS:
                methods.append((code, names))
            inner = code
        if marks & FETCH:
            break
    if not marks & FETCH:
        methods.clear()
    methods.reverse()
    key = (
        marks,
        id(top),
        id(line[0]) if line else 0,
        line[1] if line else 0,
        id(callee),
        *map(id, callers),
        -1,
        *[id(code) for code, _ in methods],
    )
    return Look(key, marks, top, line, callee, tuple(callers), tuple(methods))


def _mark(code: CodeType) -> int:
    return _MARKS.get((code.co_filename.rpartition("/")[2], code.co_name), 0)


def in_words(seen: Look) -> bytes:
    """One line of the file of names, without its end: a JSON object (docs/formats/run.md)."""
    words: dict[str, Any] = {}
    inside = [word for mark, word in _MARK_WORDS if seen.marks & mark]
    if inside:
        words["in"] = inside
    if seen.line is not None:
        code, instruction, number = seen.line
        words["line"] = _cut(place(code.co_filename, number))
        words["function"] = _cut(code.co_name)
        call = call_text(code, instruction, number)
        if call:
            words["call"] = call
        change = without_wait(linecache.getline(code.co_filename, number))
        if change:
            words["without_wait"] = change
    if seen.callee is not None:
        words["callee"] = _function(seen.callee)
    if seen.top is not None and (seen.line is None or seen.top is not seen.line[0]):
        words["top"] = _function(seen.top)
    if seen.callers:
        words["callers"] = [_cut(code.co_name) for code in seen.callers]
    transform = _transform(seen)
    if transform is not None:
        words["transform"], where = transform
        if where:
            words["transform_place"] = _cut(where)
    text = json.dumps(words, ensure_ascii=False).encode("utf-8", "replace")
    return text if len(text) <= _LONGEST_TEXT else b"{}"


def _function(code: CodeType) -> str:
    return _cut(f"{library_name(code.co_filename)} {code.co_name}")


def _transform(seen: Look) -> tuple[str, str] | None:
    """The transform of a sample that runs: its class, and where the job names it."""
    for code, module in seen.methods:
        name = class_of(code, module)
        if name and name not in _CONTAINERS:
            users = kind_of(code.co_filename) == USERS
            where = place(code.co_filename, code.co_firstlineno) if users else named_at(name)
            return _cut(name), where
    return None


def class_of(code: CodeType, module: dict[str, Any]) -> str:
    """The class that a method's code belongs to; empty for a plain function."""
    qualified = getattr(code, "co_qualname", None)  # from Python 3.11 on
    if qualified is not None:
        owner = qualified.rpartition(".")[0]
        return "" if owner.endswith("<locals>") else str(owner.rpartition(".")[2])
    for value in list(module.values()):
        if isinstance(value, type):
            function = value.__dict__.get(code.co_name)
            if getattr(function, "__code__", None) is code:
                return value.__name__
    return ""


def call_text(code: CodeType, instruction: int, number: int) -> str:
    """What runs at the line, as it is written: `loss.item()`; before Python 3.11 all of the
    line. Empty where the source is not to be had."""
    source = linecache.getline(code.co_filename, number)
    positions = getattr(code, "co_positions", None)
    if positions is not None and instruction >= 0:
        spans = list(positions())
        if instruction // 2 < len(spans):
            first, last, begin, end = spans[instruction // 2]
            if first == number and begin is not None and end is not None:
                octets = source.encode("utf-8", "replace")
                octets = octets[begin:end] if last == first else octets[begin:]
                source = octets.decode("utf-8", "replace")
                source += "" if last == first else " \u2026"
    words = " ".join(source.split())
    return words if len(words) <= _LONGEST_CALL else words[: _LONGEST_CALL - 1] + "\u2026"


def named_at(name: str) -> str:
    """The only place in the job's own files at which a class is called by its name."""
    found = ""
    for file in _files_of_the_job():
        for number, text in enumerate(linecache.getlines(file), start=1):
            if name in text and _calls(name, text):
                if found:
                    return ""
                found = place(file, number)
    return found


_MOST_FILES = 50


def _files_of_the_job() -> list[str]:
    files: dict[str, None] = {}
    for module in list(sys.modules.values()):
        # Not getattr(): a module may have code of its own behind that.
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and file.endswith(".py") and kind_of(file) == USERS:
            files[file] = None
    for file in list(linecache.cache):  # cells of a notebook
        if file.startswith("<ipython-input-") or "/ipykernel_" in file:
            files[file] = None
    return list(files)[:_MOST_FILES]


def _calls(name: str, text: str) -> bool:
    at = text.find(name + "(")
    if at < 0 or text.lstrip().startswith(("#", "class ", "def ")):
        return False
    before = text[at - 1] if at > 0 else " "
    return not (before.isalnum() or before == "_")


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "\u2026"
