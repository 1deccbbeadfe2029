"""The plan of a composition that has been read to some part: what the image is at that point."""

from __future__ import annotations

from typing import Any, Literal

from unstarve.lowering.plan import Channels, Geometry, NumberPair, Padding, Plan


class NotLowerable(Exception):  # noqa: N818 (an answer, not a failure)
    """The reason why a part stays Python."""


def pair(values: Any) -> NumberPair:
    low, high = (float(value) for value in values)
    return low, high


def channels(values: Any, what: str) -> Channels:
    numbers = [float(value) for value in values]
    if len(numbers) == 1:
        numbers *= 3
    if len(numbers) != 3:
        raise NotLowerable(f"{what} has {len(numbers)} values, an RGB image 3 channels")
    return numbers[0], numbers[1], numbers[2]


class PartialPlan:
    """What the composition has done so far, as parts of a plan; `finish()` makes it a whole one."""

    def __init__(self) -> None:
        self.geometry: Geometry | None = None
        self.pending_resize: tuple[int, Literal["bilinear", "bicubic"]] | None = None
        self.pending_padding: Padding | None = None  # until a random crop takes it
        self.plan = Plan(Geometry("resize", (0, 0)))
        self.form: Literal["pil", "tensor"] = "pil"
        #: Of what is read now: within how many others, as RandomApply, it stands.
        self.depth = 0

    def finish(self) -> Plan:
        if self.geometry is None:
            if self.pending_resize is not None:
                raise NotLowerable("Resize to one number gives images of different shapes")
            raise NotLowerable("nothing gives the images one size")
        if self.form == "pil":
            raise NotLowerable("the result is a PIL image, not a tensor")
        self.plan.geometry = self.geometry
        return self.plan

    @property
    def is_float(self) -> bool:
        return self.plan.dtype != "uint8"
