"""Arguments of classes that the script constructs: what they are, and other values in their place.

Of each argument the first construction with a value decides which value is meant; whatever is
constructed with the same one gets the new one. A training loader is changed that way, and one for
an evaluation with another batch is not.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import ModuleType
from typing import Any

from .. import describe
from ..recorder import RECORDER
from ..wrap import hide_our_frame, put

#: Of "DataLoader.batch_size" the class's name, by the modules that have the class.
_CLASSES = {
    "torch.utils.data.dataloader": "DataLoader",
    "transformers.training_args": "TrainingArguments",
    "lightning.pytorch.trainer.trainer": "Trainer",
    "pytorch_lightning.trainer.trainer": "Trainer",
}


class _NoValueError(Exception):
    """With the reason why an argument has no value to begin with, or cannot be given another."""


class Constructions:
    """`wanted`: new values by "Class.argument"; None where what the job has is recorded alone."""

    def __init__(self, wanted: dict[str, int | None], diary: Any) -> None:
        self._wanted = wanted
        self._diary = diary
        self._first: dict[str, int] = {}
        self._files: dict[str, str] = {}  # in which the script constructs with that value
        self._changed: set[str] = set()
        for option in wanted:
            self._say_no_value(option, f"the job made no {option.partition('.')[0]}")

    def watch(self, module: ModuleType) -> None:
        kind: Any = getattr(module, _CLASSES[module.__name__])
        asked = [one for one in self._wanted if one.partition(".")[0] == kind.__name__]
        if not asked:
            return
        if kind.__name__ == "TrainingArguments":
            self._watch_fields(kind, asked)
        else:
            self._watch_arguments(kind, asked)

    def _watch_arguments(self, kind: Any, asked: list[str]) -> None:
        original = kind.__init__
        signature = inspect.signature(original)

        @functools.wraps(original)  # Trainers make loaders anew by its signature.
        def __init__(thing: Any, *arguments: Any, **named: Any) -> None:
            try:
                bound = signature.bind(thing, *arguments, **named)
                changed = [option for option in asked if self._give(option, bound)]
                if changed:
                    arguments, named = bound.args[1:], bound.kwargs
            except TypeError:
                pass  # The class will say what is wrong.
            except Exception as error:
                RECORDER.note_error(error)
            try:
                original(thing, *arguments, **named)
            except BaseException as error:
                hide_our_frame(error)
                raise

        put(kind, "__init__", __init__)

    def _give(self, option: str, bound: inspect.BoundArguments) -> bool:
        """Whether an argument is another now."""
        argument = option.partition(".")[2]
        parameter = bound.signature.parameters.get(argument)
        if parameter is None:
            self._say_no_value(option, f"this version has no argument {argument}")
            return False
        given = bound.arguments.get(argument, parameter.default)
        try:
            _check_loader(option, bound.arguments)
            new = self._new_value(option, given)
        except _NoValueError as reason:
            self._say_no_value(option, str(reason))
            return False
        if new is None:
            return False
        bound.arguments[argument] = new
        if option == "DataLoader.num_workers" and new == 0:
            # torch takes neither of these without workers.
            for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context"):
                bound.arguments.pop(name, None)
        return True

    def _watch_fields(self, kind: Any, asked: list[str]) -> None:
        """A data class: those that are made of it have constructors of their own, which set the
        fields and call this."""
        original = kind.__post_init__

        @functools.wraps(original)
        def __post_init__(thing: Any, *arguments: Any, **named: Any) -> None:
            for option in asked:
                try:
                    self._set_field(option, thing)
                except Exception as error:
                    RECORDER.note_error(error)
            original(thing, *arguments, **named)

        put(kind, "__post_init__", __post_init__)

    def _set_field(self, option: str, thing: Any) -> None:
        argument = option.partition(".")[2]
        try:
            if not hasattr(thing, argument):
                raise _NoValueError(f"this version has no argument {argument}")
            new = self._new_value(option, getattr(thing, argument))
        except _NoValueError as reason:
            self._say_no_value(option, str(reason))
            return
        if new is not None:
            setattr(thing, argument, new)

    def _new_value(self, option: str, given: Any) -> int | None:
        """None where what is given stays."""
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            raise _NoValueError(f"{option} is {given!r:.60}, which is no whole number")
        if option not in self._first:
            self._first[option] = given
        if given != self._first[option]:
            return None
        self._note_place(option, given)
        new = self._wanted[option]
        if new is None:
            return None
        if option not in self._changed:
            self._changed.add(option)
            self._diary.applied(option)
        return new

    def _note_place(self, option: str, value: int) -> None:
        """Where the script constructs it; of several files nobody can say which."""
        place = describe.place_of_user_code(sys._getframe(1)) or ""
        file = place.rpartition(":")[0]
        if option not in self._files:
            self._files[option] = file
            self._diary.constructed(option, value=value, place=place)
        elif self._files[option] != file:
            self._diary.constructed(option, value=value, place="")

    def _say_no_value(self, option: str, reason: str) -> None:
        if option in self._first:
            return
        self._diary.constructed(option, why_not=reason)
        if self._wanted[option] is not None:
            self._diary.refused(option, reason)


def _check_loader(option: str, given: dict[str, Any]) -> None:
    if option == "DataLoader.batch_size" and given.get("batch_sampler") is not None:
        raise _NoValueError("the loader's batches are those of a batch_sampler")
    if option == "DataLoader.num_workers" and _is_stream(given.get("dataset")):
        raise _NoValueError(
            "an iterable data set: with another number of workers it gives other batches"
        )


def _is_stream(dataset: Any) -> bool:
    data: Any = sys.modules.get("torch.utils.data.dataset")
    return data is not None and isinstance(dataset, data.IterableDataset)
