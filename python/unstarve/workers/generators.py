"""The process's global random generators: their states as values, and as text for JSON."""

from __future__ import annotations

import base64
import ctypes
import random
import struct
import sys
import zlib
from typing import Any

#: What a worker notes of itself, by name.
Note = dict[str, Any]

_NUMPY_STATE_BYTES = 625 * 4  # 624 words and the place among them
_MERSENNE = struct.Struct("<625I")  # Python's generator: 624 words and the place among them


def generators() -> dict[str, Any]:
    """The process's global generators, as values that can be compared. They are looked at for each
    batch: NumPy's own state takes sixty microseconds, so its words are read where they lie."""
    torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
    found = {"python": random.getstate(), "torch": torch.get_rng_state().numpy().tobytes()}
    if numpy is not None:
        found["numpy"] = _numpy_words(numpy.random)
    return found


def _numpy_words(module: Any) -> Any:
    bits: Any = getattr(module, "get_bit_generator", lambda: None)()  # since NumPy 1.24
    if type(bits) is not module.MT19937:
        return numpy_state()
    return ctypes.string_at(bits.ctypes.state_address, _NUMPY_STATE_BYTES)


def numpy_state() -> Any:
    import numpy

    state: Any = numpy.random.get_state()
    name, words, *rest = state
    return name, words.tobytes(), *rest


def set_generators(states: dict[str, Any]) -> None:
    if "python" in states:
        random.setstate(states["python"])
    if "torch" in states:
        torch = sys.modules["torch"]
        torch.set_rng_state(torch.frombuffer(bytearray(states["torch"]), dtype=torch.uint8))
    if "numpy" in states:
        import numpy

        name, words, *rest = states["numpy"]
        numpy.random.set_state((name, numpy.frombuffer(words, dtype=numpy.uint32), *rest))


def to_plain(note: Note | None) -> Note | None:
    """Generators as text, for JSON."""
    if note is None or "generators" not in note:
        return note
    plain: dict[str, Any] = {}
    for name, state in note["generators"].items():
        if name == "torch":
            plain[name] = _text(state)
        elif name == "numpy":
            plain[name] = [state[0], _text(state[1]), *state[2:]]
        else:
            plain[name] = [state[0], _text(_MERSENNE.pack(*state[1])), state[2]]
    return {**note, "generators": plain}


def from_plain(note: Note | None) -> Note | None:
    if note is None or "generators" not in note:
        return note
    states: dict[str, Any] = {}
    for name, plain in note["generators"].items():
        if name == "torch":
            states[name] = _bytes(plain)
        elif name == "numpy":
            states[name] = (plain[0], _bytes(plain[1]), *plain[2:])
        else:
            states[name] = (plain[0], _MERSENNE.unpack(_bytes(plain[1])), plain[2])
    return {**note, "generators": states}


def _text(raw: bytes) -> str:
    return base64.b85encode(zlib.compress(raw, 6)).decode()


def _bytes(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))
