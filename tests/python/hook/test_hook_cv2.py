"""OpenCV's decoders: what a fetch takes for them is told apart from its other Python."""

from __future__ import annotations

import os
from pathlib import Path

from hook_jobs import HOOK, run_python

# As OpenCV's package does: it loads its compiled part by its own name and hands on what that holds.
PACKAGE = """
import importlib, os, sys
ours = sys.modules.pop("cv2")
path = list(sys.path)
sys.path.insert(1, os.path.join(os.path.dirname(__file__), "compiled"))
native = importlib.import_module("cv2")
sys.path[:] = path
sys.modules["cv2"] = ours
globals().update({name: value for name, value in vars(native).items() if name[0] != "_"})
"""
# Callables that are no Python functions and work on the CPU.
COMPILED = """
import functools, hashlib
imread, imdecode = (functools.partial(hashlib.pbkdf2_hmac, name) for name in ("sha256", "sha1"))
imread.__name__, imdecode.__name__ = "imread", "imdecode"
imread.__module__ = imdecode.__module__ = "cv2"
"""

JOB = """
import pickle, sys
sys.path[:0] = sys.argv[1:]
from _unstarve_hook import decode, imports, wrap
imports.after_import("cv2", decode.watch_cv2)
sys.meta_path.insert(0, imports.Finder())
import cv2, functools, hashlib

class Photos:
    read = cv2.imread  # no method: the data set is not its first argument

photos, work = Photos(), (b"a", b"b", 40_000)
assert photos.read(*work) == hashlib.pbkdf2_hmac("sha256", *work)

def decoding_ns(call):
    outer = decode.enter_fetch()
    call(*work)
    return decode.leave_fetch(outer)

assert decoding_ns(photos.read) > 1e6
assert decoding_ns(photos.read.__wrapped__) == 0
assert pickle.loads(pickle.dumps(cv2.imdecode)) is cv2.imdecode
assert repr(cv2.imread) == repr(cv2.imread.__wrapped__)
try:
    cv2.imread(b"a", b"b", -1)
except ValueError as error:
    assert error.__traceback__.tb_next is None  # nothing of ours between the job and the function
wrap.take_back()
assert type(cv2.imread) is type(cv2.imdecode) is functools.partial
print("done")
"""


def test_reading_images_is_decoding_and_else_as_without_us(tmp_path: Path) -> None:
    package = tmp_path / "cv2"
    (package / "compiled").mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    (package / "compiled" / "cv2.py").write_text(COMPILED)
    done = run_python(["-c", JOB, str(HOOK), str(tmp_path)], dict(os.environ))
    assert done.stdout == "done\n", done.stderr
