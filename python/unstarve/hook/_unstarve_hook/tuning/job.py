"""Finds a job's model and optimizer without a word from the job, and applies levers to them."""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..recorder import RECORDER
from ..ring import ABSENT
from ..steps import STEPS
from ..wrap import compiling_of, in_the_place_of, put
from . import levers
from .closures import once_gradients_are_there
from .diary import Diary
from .forward import Forward, function_of, keep_out_of_exports, put_back
from .habits import Habits
from .refusal import LeverRefusedError
from .step_shares import StepShares

_TRAINERS = {
    "transformers.trainer": "transformers",
    "lightning.pytorch.": "lightning",
    "pytorch_lightning.": "lightning",
}
#: So many outermost calls are looked at before the model is given up.
_MOST_CALLS = 200
#: So many come before a job without an optimizer and without a backward() is one that infers.
_CALLS_OF_INFERENCE = 8
#: Each empties Python's caches of all modules' attributes, and 3.13 gives up a class's after 1,000.
_MOST_EXCHANGES = 200
#: After so many steps a script has done what it does in each of them, before the diary is written.
_HABITS_ARE_KNOWN = 2
#: Behind what the first steps do once, before steps are timed.
_PROFILED_STEP = 4
#: Of several optimizers one may step seldom: the profiler sees no more steps than that.
_MOST_PROFILED_STEPS = 8


class Job:
    """The root is the outermost module that is called, with gradients on, and owns most of what the
    optimizer trains. Levers are applied right before that call.

    Without an optimizer of torch a call of backward() is a step. The root is then the one of the
    modules called before the first backward() that owns most of what has gradients behind it, and
    levers are applied right before its next call.

    After so many calls without an optimizer and without a backward() the job infers: the root is
    the largest of the modules that were called, and each of its calls is a step."""

    def __init__(self, torch: Any, wanted: dict[str, Any], survey: bool, diary: Diary) -> None:
        self.torch = torch
        self.root: Any = None
        self.device = "cpu"
        self.inputs: list[Any] = []  # tensors of the root's first call
        self._wanted = wanted
        self._survey = survey
        self._diary = diary
        self._optimizers: list[weakref.ref[Any]] = []
        self._without_optimizer: list[weakref.ref[Any]] = []  # what was called before one was made
        self._root_by_hand: weakref.ref[Any] | None = None
        self.infers = False
        self._thread = threading.get_ident()
        self._calls = 0
        self._exchanges = 0
        self._inside = False
        self._done = False
        self._steps = 0
        self._profiled_of = 0
        self.habits = Habits(torch) if survey else None
        if diary.parity is not None:
            diary.parity.follow(self)
        #: Called with an optimizer once its gradients are there.
        self.before_updates: list[Callable[[Any], None]] = []
        # Torch traces what a compiled function calls, hooks included, and then calls them no more.
        self._is_compiling = compiling_of(torch)

    @property
    def optimizers(self) -> list[Any]:
        return [optimizer for one in self._optimizers if (optimizer := one()) is not None]

    @property
    def model(self) -> Any:
        """The root, or what will be it, where the first gradients come before it is known."""
        if self.root is not None or self._root_by_hand is None:
            return self.root
        return self._root_by_hand()

    @property
    def compares_results(self) -> bool:
        """This run records what the training computes, and is not timed."""
        return self._diary.parity is not None

    def parameters(self) -> list[Any]:
        """What optimizers train; without one, all of the root that has gradients, or all of it."""
        if not self._optimizers and self.root is not None:
            everything = list(self.root.parameters())
            return [one for one in everything if one.requires_grad] or everything
        groups = [group for one in self.optimizers for group in one.param_groups]
        return [parameter for group in groups for parameter in group["params"]]

    def watch(self) -> None:
        self._watch_optimizers()
        self._watch_calls()
        self._watch_backward()
        self._watch_scaler()
        keep_out_of_exports(self.torch)
        if self.habits is not None:
            self.habits.watch()

    def _watch_optimizers(self) -> None:
        module: Any = sys.modules["torch.optim.optimizer"]  # not always an attribute
        original = module.Optimizer.__init__

        def __init__(optimizer: Any, *arguments: Any, **named: Any) -> None:
            original(optimizer, *arguments, **named)
            self._optimizers.append(weakref.ref(optimizer))
            if self.infers:
                self._train_after_all()

        put(module.Optimizer, "__init__", in_the_place_of(original, __init__))
        module.register_optimizer_step_pre_hook(self._before_step)
        module.register_optimizer_step_post_hook(self._after_step)

    def _before_step(self, optimizer: Any, arguments: Any, named: Any) -> Any:
        if self._is_compiling():
            return None
        return once_gradients_are_there(arguments, named, lambda: self._before_update(optimizer))

    def _before_update(self, optimizer: Any) -> None:
        """At the latest: no module was seen to be the root, and the first update comes."""
        if not self._done:
            self._apply_all()
        for look in self.before_updates:
            look(optimizer)
        if self._diary.parity is not None:
            self._diary.parity.before_update(optimizer)
        if self._diary.shares is not None:
            self._diary.shares.optimizer_begins()

    def withdraw(self, lever: str, reason: str) -> None:
        """A lever that was applied says that it changes what is computed."""
        self._diary.withdrawn(lever, reason)

    def _after_step(self, optimizer: Any, arguments: Any, named: Any) -> None:
        if self._is_compiling():
            return
        try:
            if self._diary.shares is not None:
                self._diary.shares.optimizer_ends()
            self._stepped(optimizer)
        except Exception as error:
            RECORDER.note_error(error)

    def _stepped(self, optimizer: Any = None) -> None:
        self._steps += 1
        if self._survey:
            self._watch_step(id(optimizer))
        self._diary.stepped()

    def _watch_step(self, whose: int) -> None:
        """The survey's own: what the script did in its first steps, and what one step takes its
        time for."""
        if self._steps == _HABITS_ARE_KNOWN and self.habits is not None:
            self._survey_habits(self.habits)
        if self.device != "cpu":
            return
        profiled = self._steps - (_PROFILED_STEP - 1)
        if profiled == 0:
            self._profiled_of = whose
            self._diary.shares = StepShares(self.torch)
            self._diary.shares.begin()
        is_last = whose == self._profiled_of or profiled >= _MOST_PROFILED_STEPS
        if profiled > 0 and is_last and self._diary.shares is not None:
            self._diary.shares.end()

    def _train_after_all(self) -> None:
        """An evaluation came before the training: the model is looked for once more."""
        try:
            self.infers = self._done = False
            if self.root is not None:
                put_back(self.root)
            self.root = self._root_by_hand = None
            self._without_optimizer.clear()
            self._calls = self._steps = 0
            self._diary.start_over(levers.NAMES)
            if self.habits is not None:
                self.habits.open()
            self._watch_calls()
        except Exception as error:
            RECORDER.note_error(error)

    def _after_backward(self) -> None:
        if self.infers:
            self._train_after_all()
        if self._optimizers:
            return
        if self._root_by_hand is None:
            called = [module for one in self._without_optimizer if (module := one()) is not None]
            self._root_by_hand = weakref.ref(max(called, key=_with_gradients)) if called else None
            self._without_optimizer.clear()
        if self._diary.parity is not None:
            trained: Any = self._root_by_hand() if self._root_by_hand is not None else None
            self._diary.parity.computed_gradients(trained.parameters() if trained else [])
        self._stepped()

    def _watch_backward(self) -> None:
        tensor = self.torch.Tensor
        original = tensor.backward
        note = self._diary.backward

        def backward(loss: Any, *arguments: Any, **named: Any) -> Any:
            try:
                note(loss)
            except Exception as error:
                RECORDER.note_error(error)
            result = original(loss, *arguments, **named)
            try:
                self._after_backward()
            except Exception as error:
                RECORDER.note_error(error)
            return result

        put(tensor, "backward", in_the_place_of(original, backward))

    def _watch_scaler(self) -> None:
        """Steps that a GradScaler leaves out, since gradients overflowed."""
        scaler = getattr(getattr(self.torch, "amp", None), "GradScaler", None)
        scaler = scaler or self.torch.cuda.amp.GradScaler  # before torch 2.3
        original = scaler.step

        def step(self_: Any, optimizer: Any, *arguments: Any, **named: Any) -> Any:
            steps = self._steps
            result = original(self_, optimizer, *arguments, **named)
            try:
                if self_.is_enabled():
                    self._diary.scaled(self_._per_optimizer_states.get(id(optimizer)))
                    if self._steps == steps:
                        self._diary.left_out()
            except Exception as error:
                RECORDER.note_error(error)
            return result

        put(scaler, "step", in_the_place_of(original, step))

    def _watch_calls(self) -> None:
        module_class = self.torch.nn.Module
        original = module_class.__call__

        def __call__(module: Any, *arguments: Any, **named: Any) -> Any:
            if self._done or self._inside or threading.get_ident() != self._thread:
                return original(module, *arguments, **named)
            self._inside = True
            try:
                self._consider(module, arguments, named)
                self._inside = self._done or self._may_own_root(module)
                # Until 2.8 torch.compile traces what modules within are called by, if that is not
                # torch's own.
                if self._inside and (self._done or self._exchanges < _MOST_EXCHANGES):
                    self._exchange(__call__, original)
                return original(module, *arguments, **named)
            finally:
                self._inside = False
                if not self._done:
                    self._exchange(original, __call__)

        put(module_class, "__call__", in_the_place_of(original, __call__))

    def _exchange(self, present: Any, other: Any) -> None:
        """What modules are called by, unless somebody has put one of their own there."""
        module_class = self.torch.nn.Module
        if vars(module_class).get("__call__") is present:
            module_class.__call__ = other
            self._exchanges += 1

    def _consider(self, module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Raises nothing: the job's call follows."""
        try:
            if self.torch.utils.data.get_worker_info() is not None:
                self._done = True  # In a loader's worker: a transform that is a module.
                return
            if not self._optimizers and self._root_by_hand is None:
                self._without_optimizer.append(weakref.ref(module))
                if len(self._without_optimizer) <= _CALLS_OF_INFERENCE:
                    return
                called = [one() for one in self._without_optimizer]
                self._root_by_hand = weakref.ref(max(called, key=_parameters_of))
                self.infers = True
            if not self.infers and not self.torch.is_grad_enabled():
                return
            self._calls += 1
            if self._calls > _MOST_CALLS or self._is_root(module):
                self.root = module if self._calls <= _MOST_CALLS else None
                self.inputs = tensors_of([*arguments, *named.values()])
                self._apply_all()
        except Exception as error:
            self._done = True
            RECORDER.note_error(error)

    def _may_own_root(self, module: Any) -> bool:
        """A criterion that is a module may be given the model, and call it."""
        if not self._optimizers:
            return True
        trained = {id(parameter) for parameter in self.parameters()}
        return any(id(parameter) in trained for parameter in module.parameters())

    def _is_root(self, module: Any) -> bool:
        if not self._optimizers:
            return self._root_by_hand is not None and self._root_by_hand() is module
        trained = self.parameters()
        own = {id(parameter) for parameter in module.parameters()}
        owned = sum(parameter.numel() for parameter in trained if id(parameter) in own)
        return bool(2 * owned > sum(parameter.numel() for parameter in trained))

    def _apply_all(self) -> None:
        self._done = True
        trained = self.parameters()
        self.device = trained[0].device.type if trained else "cpu"
        self._describe()
        if self._survey:
            names = (name for name in levers.NAMES if not _needs_habits(name))
            self._diary.surveyed({name: self._why_not(name, {}) for name in names})
        for name in (name for name in levers.NAMES if name in self._wanted):
            settings = self._wanted[name]
            reason = self._why_not(name, settings)
            if reason is None:
                try:
                    levers.get(name).apply(self, settings)
                    self._diary.applied(name)
                    continue
                except LeverRefusedError as refused:
                    reason = str(refused)
                except Exception as error:
                    reason = f"it could not be applied: {_in_words(error)}"
            self._diary.refused(name, reason)
        for name in self._wanted:
            if name not in levers.NAMES:
                self._diary.refused(name, "no such lever in the hook")
        if self.infers:
            self.around_forward(self._inferred)
        elif self.root is not None:
            self.around_forward(self._counted)
        self._diary.write()  # Where a step takes long, the trial ends before the third.

    def _counted(self, call: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if self._is_compiling():
            return call(*arguments, **named)
        if self.torch.is_grad_enabled():
            self._diary.called(tensors_of([*arguments, *named.values()]))
        return call(*arguments, **named)

    def _inferred(self, call: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if self._is_compiling():
            return call(*arguments, **named)
        given = tensors_of([*arguments, *named.values()])
        if self.infers or self.torch.is_grad_enabled():
            self._diary.called(given)
        ours = threading.get_ident() == self._thread
        began = self._diary.call_begins() if ours else None
        outputs = call(*arguments, **named)
        try:
            self._diary.call_ended(began)
            if self.infers and ours:
                if self._diary.parity is not None:
                    self._diary.parity.inferred(tensors_of(_parts(outputs)))
                self._stepped()
                STEPS.called(len(given[0]) if given and given[0].dim() else ABSENT)
        except Exception as error:
            RECORDER.note_error(error)
        return outputs

    def _survey_habits(self, habits: Habits) -> None:
        habits.close()
        names = (name for name in levers.NAMES if _needs_habits(name))
        self._diary.surveyed({name: self._why_not(name, {}) for name in names})
        self._diary.describe(loads=bool(habits.pinning))

    def _why_not(self, name: str, settings: dict[str, Any]) -> str | None:
        """None where the lever applies."""
        try:
            lever = levers.get(name)
            if self.root is None and lever.NEEDS_ROOT:
                return "no module that is called as a whole owns most of what is trained"
            lever.check(self, settings)
        except LeverRefusedError as refused:
            return str(refused)
        except Exception as error:
            RECORDER.note_error(error)
            return f"whether it applies could not be found out: {_in_words(error)}"
        return None

    def _describe(self) -> None:
        kinds = [type(optimizer).__name__ for optimizer in self.optimizers]
        self._diary.describe(
            device=self.device,
            model=type(self.root).__name__ if self.root is not None else "",
            optimizer=kinds[0] if kinds else "",
            parameters=sum(parameter.numel() for parameter in self.parameters()),
            threads=self.torch.get_num_threads(),
            interop_threads=self.torch.get_num_interop_threads(),
            trainer=_trainer(),
            torch=str(self.torch.__version__),
        )

    def around_forward(self, around: Any) -> None:
        """`around(forward, arguments, named)` is called in the place of the root's forward."""
        inner = function_of(self.root)

        @functools.wraps(inner)
        def forward(*arguments: Any, **named: Any) -> Any:
            return around(inner, arguments, named)

        self.root.forward = Forward(self.root, forward)


def _in_words(error: Exception) -> str:
    """What an error of torch begins with; it may go on with a trace of C++."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"[:200]


def _with_gradients(module: Any) -> int:
    """How many numbers of its parameters have a gradient."""
    return sum(one.numel() for one in module.parameters() if one.grad is not None)


def _parameters_of(module: Any) -> int:
    return sum(one.numel() for one in module.parameters()) if module is not None else -1


def _parts(outputs: Any) -> list[Any]:
    """A tensor, several, or an object of transformers that holds them by name."""
    if isinstance(outputs, dict):
        return list(outputs.values())
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def _needs_habits(name: str) -> bool:
    return bool(getattr(levers.get(name), "NEEDS_HABITS", False))


def _trainer() -> str:
    """Whose loop calls the model: the first of these whose code is on the stack."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        for module, trainer in _TRAINERS.items():
            if name.startswith(module):
                return trainer
        frame = frame.f_back
    # transformers imports accelerate whether or not the script uses it.
    state = getattr(sys.modules.get("accelerate.state"), "AcceleratorState", None)
    return "accelerate" if getattr(state, "_shared_state", None) else ""


def tensors_of(things: Any) -> list[Any]:
    """Tensors among these, and one level into lists, tuples and dicts."""
    found = []
    for thing in things:
        inner = thing if isinstance(thing, (list, tuple)) else [thing]
        inner = list(thing.values()) if isinstance(thing, dict) else inner
        found += [one for one in inner if hasattr(one, "is_floating_point")]
    return found
