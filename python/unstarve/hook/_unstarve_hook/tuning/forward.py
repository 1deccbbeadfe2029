"""What stands in the place of a model's forward while a lever is applied."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..wrap import in_the_place_of, put

_ABSENT = object()


class Forward:
    """An attribute of the module, in front of its class's method. Who pickles or copies the module,
    as scripts do that save it whole or keep an average of it, gets that method."""

    def __init__(self, module: Any, call: Any) -> None:
        inner = vars(module).get("forward", _ABSENT)
        self.module = module
        self.call = call
        self.before: Any = inner.before if isinstance(inner, Forward) else inner
        functools.update_wrapper(self, call, updated=())

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.call(*arguments, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self.module, "forward")


def function_of(module: Any) -> Any:
    """The module's forward, without one of ours around it."""
    forward = module.forward
    return forward.call if isinstance(forward, Forward) else forward


def put_back(module: Any) -> None:
    """The module's own forward, where one of ours is in its place."""
    ours = vars(module).get("forward")
    if not isinstance(ours, Forward):
        return
    del module.forward
    if ours.before is not _ABSENT:
        module.forward = ours.before


@contextmanager
def as_written(module: Any) -> Iterator[None]:
    """Within it, none of the module's parts has one of ours."""
    parts = [(one, vars(one).get("forward")) for one in module.modules()]
    ours = [(one, forward) for one, forward in parts if isinstance(forward, Forward)]
    for one, _ in ours:
        put_back(one)
    try:
        yield
    finally:
        for one, forward in ours:
            one.forward = forward


def keep_out_of_exports(torch: Any) -> None:
    """What reads a model's forward, or follows its calls, to keep it (TorchScript, torch.export)
    gets the model's own. Of torch.onnx only what is built on these."""
    script: Any = torch.jit.script

    def scripted(obj: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(obj, torch.nn.Module):
            with as_written(obj):
                return script(obj, *arguments, **named)
        if len(arguments) < 2:  # A class's names are looked up in the frame of who calls: one up.
            named["_frames_up"] = named.get("_frames_up", 0) + 1
        return script(obj, *arguments, **named)

    put(torch.jit, "script", in_the_place_of(script, scripted))
    export = getattr(torch, "export", None)
    for holder, name in (
        (torch.jit, "trace"),
        (torch.jit, "trace_module"),
        (export, "export"),
        (export, "export_for_training"),
    ):
        original = getattr(holder, name, None)
        if original is not None:
            put(holder, name, in_the_place_of(original, _of_models_as_written(torch, original)))


def _of_models_as_written(torch: Any, original: Any) -> Any:
    def keeps(*arguments: Any, **named: Any) -> Any:
        model = _model_among(torch, (*arguments, *named.values()))
        if model is None:
            return original(*arguments, **named)
        with as_written(model):
            positional = [_written(one) for one in arguments]
            return original(*positional, **{key: _written(one) for key, one in named.items()})

    return keeps


def _model_among(torch: Any, things: Iterable[Any]) -> Any:
    """A model, or the one whose forward is there; None: there is none."""
    for thing in things:
        owner = thing.module if isinstance(thing, Forward) else getattr(thing, "__self__", thing)
        if isinstance(owner, torch.nn.Module):
            return owner
    return None


def _written(thing: Any) -> Any:
    return thing.module.forward if isinstance(thing, Forward) else thing
