"""Adds up the CPU time that a fetch spends in image decoders, per thread."""

from __future__ import annotations

import threading
import time
from types import ModuleType
from typing import Any, Callable

from .wrap import hide_our_frame, in_the_place_of, put

#: Of this thread; where Python cannot say it, the time that passes.
cpu_ns: Callable[[], int] = getattr(time, "thread_time_ns", time.monotonic_ns)


class _Here(threading.local):
    fetching = False
    decoding = False  # A decoder that calls another is counted once.
    ns = 0


_here = _Here()


def enter_fetch() -> tuple[bool, int]:
    """Starts a count; returns what `leave_fetch` needs to go back to an outer one."""
    outer = (_here.fetching, _here.ns)
    _here.fetching = True
    _here.ns = 0
    return outer


def leave_fetch(outer: tuple[bool, int]) -> int:
    """The nanoseconds of decoding since enter_fetch()."""
    decoded = _here.ns
    _here.fetching, _here.ns = outer
    return decoded


def watch_pil(module: ModuleType) -> None:
    """PIL.ImageFile: `load` reads and decodes the file; opening only parsed its header.

    What turns the file into RGB (`Image.open(path).convert("RGB")`) makes an image of it, too.
    """
    # An image whose pixels are there already is asked to load again by every operation on it.
    for name in ("load", "convert"):
        decoder = _timed(getattr(module.ImageFile, name), lambda image: bool(image.tile))
        put(module.ImageFile, name, decoder)


def watch_jpeg(module: ModuleType) -> None:
    """PIL.JpegImagePlugin: looks at the stack tell by a frame of ours that an image is a JPEG."""
    for name in ("load", "convert"):
        put(module.JpegImageFile, name, _as_jpeg(getattr(module.JpegImageFile, name)))


def watch_png(module: ModuleType) -> None:
    """PIL.PngImagePlugin: the same of a PNG."""
    for name in ("load", "convert"):
        put(module.PngImageFile, name, _as_png(getattr(module.PngImageFile, name)))


def _as_jpeg(original: Any) -> Any:
    def jpeg(*arguments: Any, **named: Any) -> Any:
        try:
            return original(*arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise

    return _in_its_place(original, jpeg)


def _as_png(original: Any) -> Any:
    def png(*arguments: Any, **named: Any) -> Any:
        try:
            return original(*arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise

    return _in_its_place(original, png)


def _in_its_place(original: Any, ours: Any) -> Any:
    ours = in_the_place_of(original, ours)
    ours.__wrapped__ = original
    return ours


def watch_torchvision(module: ModuleType) -> None:
    """torchvision.io.image."""
    for name in ("decode_jpeg", "decode_png", "decode_image", "decode_webp", "read_image"):
        original = getattr(module, name, None)
        if original is not None:
            decoder = _timed(original, lambda _: True)
            # What torch.jit.script looks for to compile the function behind a wrapper.
            setattr(decoder, "__original_fn", original)
            setattr(decoder, "__script_if_tracing_wrapper", True)
            put(module, name, decoder)


def watch_cv2(module: ModuleType) -> None:
    """OpenCV: files, and bytes that lie in memory."""
    for name in ("imread", "imdecode"):
        original = getattr(module, name, None)
        if original is not None:
            put(module, name, _as_compiled(_timed(original, lambda _: True), original))


def _timed(original: Any, has_work: Callable[..., bool]) -> Any:
    """`original`, counted while a fetch of this thread goes on and `has_work(first argument)`."""

    def decoder(*arguments: Any, **named: Any) -> Any:
        start = _begin() if _here.fetching and _asked(has_work, arguments) else None
        try:
            return original(*arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise
        finally:
            if start is not None:
                _end(start)

    return _in_its_place(original, decoder)


def _as_compiled(decoder: Any, original: Any) -> Any:
    """As a compiled function is: no method where a class has it as an attribute, and pickled by its
    name."""

    class Compiled:
        __call__ = staticmethod(decoder)

        def __reduce__(self) -> str:
            return str(original.__name__)

        def __repr__(self) -> str:
            return repr(original)

    ours: Any = in_the_place_of(original, Compiled())
    ours.__wrapped__ = original
    return ours


def _begin() -> int | None:
    """None where nothing is counted."""
    if not _here.fetching or _here.decoding:
        return None
    _here.decoding = True
    return cpu_ns()


def _end(start: int) -> None:
    _here.ns += cpu_ns() - start
    _here.decoding = False


def _asked(has_work: Callable[..., bool], arguments: tuple[Any, ...]) -> bool:
    try:
        return has_work(*arguments[:1])
    except Exception:
        return True
