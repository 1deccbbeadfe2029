"""Records, in a run made for that, what the training computes: losses and norms of gradients.

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
        self._losses: list[Any] = []
        self._norms: list[Any] = []
        self._rows: list[int] = []
        self._passes: list[float | None] = []  # losses of the backward passes since the last step
        self._rows_of_step = 0

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
        optimizers: Any = sys.modules["torch.optim.optimizer"]
        optimizers.register_optimizer_step_pre_hook(self._before_step)

    def backward(self, loss: Any) -> None:
        if len(self._norms) < self.steps:
            self._passes.append(float(loss.detach()) if loss.numel() == 1 else None)

    def called(self, tensors: list[Any]) -> None:
        """The root model was called: how many rows its first input has."""
        if len(self._norms) < self.steps and tensors and tensors[0].dim() > 0:
            self._rows_of_step += int(tensors[0].shape[0])

    def _before_step(self, optimizer: Any, arguments: Any, named: Any) -> None:
        groups = getattr(optimizer, "param_groups", ())
        self.computed_gradients(one for group in groups for one in group["params"])

    def computed_gradients(self, parameters: Any) -> None:
        """All gradients of a step are there, and nothing has used them yet."""
        if len(self._norms) >= self.steps:
            return
        self._end_of_passes()
        try:
            squares = 0.0
            for parameter in parameters:
                gradient = parameter.grad
                if gradient is not None and not gradient.is_sparse:
                    squares += float(gradient.detach().float().norm()) ** 2
            self._norms.append(number(math.sqrt(squares) if squares >= 0 else math.nan))
        except Exception as error:
            self._norms.append(None)
            RECORDER.note_error(error)

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
        return {"losses": self._losses, "gradients": self._norms, "rows": self._rows}
