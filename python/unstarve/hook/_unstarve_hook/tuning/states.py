"""What a training has made of its tensors by the end of the steps that are compared: parameters,
buffers, what optimizers keep of them, and modules beside the model, such as an average of it.

Of each a sketch of how far it has moved from where it was before the first update: behind the first
steps, in which runs that round otherwise still go the same way, and how far at the end."""

from __future__ import annotations

import gc
import math
import random
import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from ..recorder import RECORDER
from .sketch import TensorSketches

#: Behind so many updates the first look is taken; the losses of as many steps are compared one by
#: one.
EARLY = 5
_BUCKETS = 8
_MOST_TENSORS = 20_000


class States:
    """`job` says the model and the optimizers, which may not be known before the first update."""

    def __init__(self, torch: Any, job: Any) -> None:
        self._torch = torch
        self._job = job
        self._sketches: TensorSketches | None = None
        self.start_over()

    def start_over(self) -> None:
        self._names: dict[int, str] = {}  # of parameters, by id
        self._begun: dict[str, list[float]] = {}
        self._seen: dict[str, dict[str, Any]] = {}
        self._generators: dict[str, int] = {}

    def before_update(self, parameters: list[Any], lengths: list[float | None], step: int) -> None:
        """All gradients of an update are there, `lengths` are theirs: None where one got none.
        Called before each update; `step` counts them from 0."""
        if step == 0:
            self._begin()
        for parameter, length in zip(parameters, lengths):
            name = self._names.get(id(parameter))
            if name is None:
                continue
            known = self._seen.setdefault(name, {})
            got = "0" if length is None else "1" if length == 0 else "2"
            # A second optimizer's updates are steps in which the first one's had none.
            known["gradients"] = known.get("gradients", "").ljust(step, "-") + got
            if length and 0 < length < math.inf and "pull" not in known:
                known["pull"] = _short(length)

    def after_update(self, updates: int, all_of_them: int) -> None:
        if updates == min(EARLY, all_of_them):
            for name, moved in self._moved():
                self._seen[name]["early"] = [_short(one) for one in moved]
        if updates == all_of_them:
            for name, moved in self._moved():
                self._seen[name]["end"] = _short(math.hypot(*moved))
            self._generators = generators(self._torch)

    def facts(self) -> dict[str, Any]:
        return {"tensors": self._seen, "generators": self._generators}

    def _begin(self) -> None:
        self._sketches = TensorSketches(self._torch, _BUCKETS)
        self._names = {}
        for name, tensor in self._parameters_and_buffers():
            if id(tensor) not in self._names:
                self._names[id(tensor)] = name
        for name, tensor in self._tensors():
            sums = self._sum(tensor)
            if sums is not None:
                self._begun[name] = sums
                known = self._seen.setdefault(name, {})
                known["begins"] = _short(math.hypot(*sums))
                known["numbers"] = int(tensor.numel())

    def _moved(self) -> Iterator[tuple[str, list[float]]]:
        for name, tensor in self._tensors():
            sums = self._sum(tensor)
            if sums is None:
                continue
            known = self._seen.setdefault(name, {})
            known.setdefault("numbers", int(tensor.numel()))
            begun = self._begun.get(name, [0.0] * len(sums))
            yield name, [now - then for now, then in zip(sums, begun)]

    def _sum(self, tensor: Any) -> list[float] | None:
        try:
            tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
            if tensor.is_sparse or tensor.is_complex() or tensor.device.type == "meta":
                return None
            with self._torch.no_grad():
                return self._sketches.of(tensor) if self._sketches is not None else None
        except Exception as error:
            RECORDER.note_error(error)
            return None

    def _tensors(self) -> list[tuple[str, Any]]:
        """Each once: of weights that are tied, under the first name."""
        found: dict[str, Any] = {}
        known: set[int] = set()
        for name, tensor in (*self._parameters_and_buffers(), *self._moments()):
            if id(tensor) not in known and len(found) < _MOST_TENSORS:
                known.add(id(tensor))
                found[name] = tensor
        return list(found.items())

    def _parameters_and_buffers(self) -> Iterator[tuple[str, Any]]:
        root = self._job.model
        if root is not None:
            for name, tensor in (*root.named_parameters(), *root.named_buffers()):
                # A script that says `torch.compile(model)` puts a module around it.
                yield name.removeprefix("_orig_mod."), tensor
        for at, optimizer in enumerate(self._job.optimizers):
            for number, parameter in enumerate(_trained_by(optimizer)):
                yield f"optimizer {at}, parameter {number}", parameter
        yield from _beside(self._torch, root, self._job.parameters())

    def _moments(self) -> Iterator[tuple[str, Any]]:
        for optimizer in self._job.optimizers:
            state = getattr(optimizer, "state", {})
            for parameter in _trained_by(optimizer):
                name = self._names.get(id(parameter))
                if name is None or parameter not in state:
                    continue
                for key, value in state[parameter].items():
                    if isinstance(value, self._torch.Tensor):
                        yield f"{name}: {key}", value
                    elif isinstance(value, (int, float)):
                        yield f"{name}: {key}", self._torch.tensor(float(value), device="cpu")


def generators(torch: Any) -> dict[str, int]:
    """Sums of what the random generators would draw next."""
    found = {
        "torch": zlib.crc32(torch.get_rng_state().numpy().tobytes()),
        "python": zlib.crc32(repr(random.getstate()).encode()),
    }
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        state = numpy.random.get_state()
        found["numpy"] = zlib.crc32(state[1].tobytes() + repr(state[2:]).encode())
    if torch.cuda.is_initialized():
        for at, state in enumerate(torch.cuda.get_rng_state_all()):
            found[f"cuda:{at}"] = zlib.crc32(state.numpy().tobytes())
    return found


def _beside(torch: Any, root: Any, trained: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Of modules that share nothing with the model and are part of no other: an average of its
    weights, a teacher. Those of one class are told apart by the order in which they are kept."""
    parts = [] if root is None else [*root.parameters(), *root.buffers()]
    own = {id(one) for one in (*parts, *trained)}
    modules = [one for one in gc.get_objects() if _is_module(torch, one)]
    inner = {id(part) for module in modules for part in module.modules() if part is not module}
    counts: dict[str, int] = {}
    for module in modules:
        tensors = [*module.named_parameters(), *module.named_buffers()]
        if id(module) in inner or not tensors or any(id(one) in own for _, one in tensors):
            continue
        kind = type(module).__name__
        number = counts[kind] = counts.get(kind, 0) + 1
        for name, tensor in tensors:
            yield f"{kind} {number} beside it: {name}", tensor


def _is_module(torch: Any, thing: Any) -> bool:
    return issubclass(type(thing), torch.nn.Module) and "_parameters" in vars(thing)


def _trained_by(optimizer: Any) -> list[Any]:
    groups = getattr(optimizer, "param_groups", ())
    return [parameter for group in groups for parameter in group["params"]]


def _short(value: float) -> Any:
    """Six digits are more than is compared. JSON has no word for what is not finite."""
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf"
    return float(f"{value:.6g}")
