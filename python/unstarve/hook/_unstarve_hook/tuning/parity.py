"""Records, in a run made for that, what the training computes: losses and norms of gradients, and
the first gradient as a whole.

Of a job that infers it is numbers of its outputs and their size.

A step's loss is the sum over its backward passes, and its rows are those of all calls: so they stay
what they are where a step takes the same samples in other portions.
"""

from __future__ import annotations

import math
import random
import sys
from typing import Any

from ..recorder import RECORDER
from ..wrap import in_the_place_of, put

#: What generators begin with where the job does not seed them.
_SEED = 20260


_LARGE_PRIME = 2_654_435_761
_BUCKETS = 256
_ENTRIES_AT_ONCE = 1 << 20


def number(value: float) -> Any:
    """JSON has no word for what is not finite."""
    return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf"


class Parity:
    """The seed of a run is an offset: 0 is the job's own. So runs of several seeds differ also
    where the job seeds torch itself."""

    def __init__(self, torch: Any, steps: int, seed: int) -> None:
        self.steps = steps
        self._torch = torch
        self._seed = seed
        self.start_over()

    def start_over(self) -> None:
        """Nothing of what was recorded counts."""
        self._losses: list[Any] = []
        self._norms: list[Any] = []
        self._rows: list[int] = []
        self._passes: list[float | None] = []  # losses of the backward passes since the last step
        self._rows_of_step = 0
        self._sketch: list[Any] = []  # of the first step's gradient

    def watch(self) -> None:
        torch, offset = self._torch, self._seed
        original = torch.manual_seed

        def manual_seed(seed: Any) -> Any:
            return original(int(seed) + offset)

        ours = in_the_place_of(original, manual_seed)
        put(torch, "manual_seed", ours)
        put(torch.random, "manual_seed", ours)
        original(_SEED + offset)
        random.seed(_SEED + offset)
        numpy: Any = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(_SEED + offset)

    def backward(self, loss: Any) -> None:
        if len(self._norms) < self.steps:
            self._passes.append(float(loss.detach()) if loss.numel() == 1 else None)

    def called(self, tensors: list[Any]) -> None:
        """The root model was called: how many rows its first input has."""
        if len(self._norms) < self.steps and tensors and tensors[0].dim() > 0:
            self._rows_of_step += int(tensors[0].shape[0])

    def left_out(self) -> None:
        """The step that was to follow is left out by a GradScaler."""
        self._passes = []
        self._rows_of_step = 0

    def before_update(self, optimizer: Any) -> None:
        if _overflowed(optimizer):
            self.left_out()
            return
        groups = getattr(optimizer, "param_groups", ())
        # A fused optimizer takes the scaler's factor out of them in its own kernel.
        scale = getattr(optimizer, "grad_scale", None)
        parameters = [one for group in groups for one in group["params"]]
        self.computed_gradients(parameters, float(scale) if scale is not None else 1.0)

    def computed_gradients(self, parameters: Any, scale: float = 1.0) -> None:
        """All gradients of a step are there, and nothing has used them yet."""
        if len(self._norms) >= self.steps:
            return
        self._end_of_passes()
        try:
            gradients = [one.grad.detach() for one in parameters if one.grad is not None]
            gradients = [gradient for gradient in gradients if not gradient.is_sparse]
            squares = sum(float(gradient.double().norm()) ** 2 for gradient in gradients)
            self._norms.append(number(math.sqrt(squares) / scale if squares >= 0 else math.nan))
        except Exception as error:
            self._norms.append(None)
            RECORDER.note_error(error)
            return
        if len(self._norms) == 1:
            self._sketch = self._sketch_of(gradients, scale)

    def _sketch_of(self, gradients: list[Any], scale: float) -> list[Any]:
        try:
            sketch = Sketch(self._torch)
            for gradient in gradients:
                sketch.add(gradient)
            return [number(value / scale) for value in sketch.sums()]
        except Exception as error:
            RECORDER.note_error(error)
            return []

    def inferred(self, tensors: list[Any]) -> None:
        """The model was called and gave these: one number of the first, elsewhere in each call,
        takes the place of a loss, and its root of the mean square that of a gradient's length."""
        output = next((one for one in tensors if one.is_floating_point() and one.numel()), None)
        if output is None or len(self._norms) >= self.steps:
            return
        flat = output.detach().reshape(-1)
        at = len(self._norms) * _LARGE_PRIME % flat.numel()
        self._passes = []
        self._losses.append(number(float(flat[at])))
        self._norms.append(number(float(flat.float().square().mean().sqrt())))
        if self._rows_of_step:
            self._rows.append(self._rows_of_step)
        self._rows_of_step = 0

    def _end_of_passes(self) -> None:
        """A second optimizer's step has none of its own where both follow one backward()."""
        passes, self._passes = self._passes, []
        rows, self._rows_of_step = self._rows_of_step, 0
        if passes:
            known = [one for one in passes if one is not None]
            self._losses.append(number(sum(known)) if len(known) == len(passes) else None)
        if rows:
            self._rows.append(rows)

    def facts(self) -> dict[str, Any]:
        return {
            "losses": self._losses,
            "gradients": self._norms,
            "sketch": self._sketch,
            "rows": self._rows,
        }


def _overflowed(optimizer: Any) -> bool:
    """A fused optimizer is called all the same, and leaves the step out by itself."""
    found = getattr(optimizer, "found_inf", None)
    return found is not None and float(found) > 0


class Sketch:
    """A long vector in few numbers, each the sum of every _BUCKETS-th entry with a sign drawn for
    it. The difference of two vectors' sketches is as long as the difference of the vectors, give or
    take a tenth (a count sketch: Charikar, Chen and Farach-Colton, 2002)."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        # The job may have set another default device.
        self._sums = torch.zeros(_BUCKETS, dtype=torch.float64, device="cpu")
        # Of its own: the job's draws stay what they are.
        self._signs = torch.Generator("cpu").manual_seed(_SEED)

    def add(self, part: Any) -> None:
        torch = self._torch
        flat = part.reshape(-1)
        for start in range(0, flat.numel(), _ENTRIES_AT_ONCE):
            entries = flat[start : start + _ENTRIES_AT_ONCE].to("cpu", torch.float64)
            drawn = torch.randint(2, (len(entries),), generator=self._signs, device="cpu")
            signs = drawn * 2 - 1
            missing = -len(entries) % _BUCKETS
            padded = torch.nn.functional.pad(entries * signs, (0, missing))
            self._sums += padded.reshape(-1, _BUCKETS).sum(0)

    def sums(self) -> list[float]:
        return [float(one) for one in self._sums]
