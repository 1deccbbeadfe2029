"""Records, in a run made for that, what the training computes: losses and norms of gradients, the
first gradient as a whole, and what becomes of each tensor (states.py).

Of a job that infers it is numbers of its outputs and their size.

A step's loss is the sum over its backward passes, and its rows, numbers and calls are those of all
calls: so losses and rows stay what they are where a step takes the same samples in other portions.
"""

from __future__ import annotations

import math
import random
import sys
from typing import Any

from ..recorder import RECORDER
from ..wrap import in_the_place_of, put
from .sketch import Sketch
from .states import States

#: What generators begin with where the job does not seed them.
_SEED = 20260


_LARGE_PRIME = 2_654_435_761
#: In the place of a sparse gradient's length, which is not known.
_SPARSE = -1.0
_BUCKETS = 256


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
        self._states: States | None = None
        self.start_over()

    def start_over(self) -> None:
        """Nothing of what was recorded counts."""
        self._losses: list[Any] = []
        self._norms: list[Any] = []
        self._rows: list[int] = []
        self._passes: list[float | None] = []  # losses of the backward passes since the last step
        self._calls: list[int] = []  # of the model, step by step
        self._numbers: list[int] = []  # of its first input
        self._since_step = _Calls()
        self._sketch: list[Any] = []  # of the first step's gradient
        self._updates_seen = 0
        if self._states is not None:
            self._states.start_over()

    def follow(self, job: Any) -> None:
        """What it trains is compared too, tensor by tensor."""
        self._states = States(self._torch, job)

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
            self._since_step.add(tensors[0])

    def left_out(self) -> None:
        """The step that was to follow is left out by a GradScaler."""
        self._passes = []
        self._since_step = _Calls()

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
        parameters = list(parameters)
        try:
            gradients = [None if one.grad is None else one.grad.detach() for one in parameters]
            lengths = [_length_of(gradient, scale) for gradient in gradients]
            dense = [one for one in gradients if one is not None and not one.is_sparse]
            known = [one for one in lengths if one is not None and one != _SPARSE]
            self._norms.append(number(math.hypot(*known)))
        except Exception as error:
            self._norms.append(None)
            RECORDER.note_error(error)
            return
        if len(self._norms) == 1:
            self._sketch = self._sketch_of(dense, scale)
        if self._states is not None:
            self._states.before_update(parameters, lengths, len(self._norms) - 1)

    def stepped(self) -> None:
        """An optimizer has updated what it trains, unless it left that out by itself."""
        updates = len(self._norms)
        if self._states is None or updates == self._updates_seen:
            return
        self._updates_seen = updates
        self._states.after_update(updates, self.steps)

    def _sketch_of(self, gradients: list[Any], scale: float) -> list[Any]:
        try:
            sketch = Sketch(self._torch, _BUCKETS)
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
        self._end_of_calls()

    def _end_of_passes(self) -> None:
        """A second optimizer's step has none of its own where both follow one backward()."""
        passes, self._passes = self._passes, []
        if passes:
            known = [one for one in passes if one is not None]
            self._losses.append(number(sum(known)) if len(known) == len(passes) else None)
        self._end_of_calls()

    def _end_of_calls(self) -> None:
        calls, self._since_step = self._since_step, _Calls()
        if calls.rows:
            self._rows.append(calls.rows)
            self._numbers.append(calls.numbers)
            self._calls.append(calls.count)

    def facts(self) -> dict[str, Any]:
        return {
            "losses": self._losses,
            "gradients": self._norms,
            "sketch": self._sketch,
            "rows": self._rows,
            "calls": self._calls,
            "numbers": self._numbers,
            **self._facts_of_states(),
        }

    def _facts_of_states(self) -> dict[str, Any]:
        """Once they are whole: they may be many, and the others are written at each step."""
        if self._states is None or self._updates_seen < self.steps:
            return {}
        return self._states.facts()


class _Calls:
    """Of the model since the last step."""

    def __init__(self) -> None:
        self.count = 0
        self.rows = 0
        self.numbers = 0

    def add(self, first_input: Any) -> None:
        self.count += 1
        self.rows += int(first_input.shape[0])
        self.numbers += int(first_input.numel())


def _length_of(gradient: Any, scale: float) -> float | None:
    if gradient is None:
        return None
    return _SPARSE if gradient.is_sparse else float(gradient.double().norm()) / scale


def _overflowed(optimizer: Any) -> bool:
    """A fused optimizer is called all the same, and leaves the step out by itself."""
    found = getattr(optimizer, "found_inf", None)
    return found is not None and float(found) > 0
