"""Watches the steps of torch's optimizers."""

from __future__ import annotations

import os
import sys
import weakref
from types import ModuleType
from typing import Any

from . import blocking, cupti, describe, timeline
from .events import ALLOCATOR
from .flops import COUNTER
from .lines import sampler  # noqa: F401  (it starts with the first record)
from .recorder import RECORDER, STEP, now_ns
from .ring import ABSENT
from .wrap import hide_our_frame, in_the_place_of, keep_out_of_graphs, put, when_taken_back

#: What a step is known by: a step of an optimizer; of a job without one, a batch of its loader; of
#: a job without either, a call of backward(), or, where the model is known, a call of that.
_OPTIMIZER = 0
_BATCH = 2
_BACKWARD = 3
_CALL = 4
#: So many batches, or calls, come before an optimizer is no longer waited for.
_STAND_INS_OF_ONE_STEP = 8
#: A second optimizer takes over after this many steps in which the first one took none.
_PATIENCE = 16
#: The index of the step after which the job is asked once whether it uses CUDA.
_DEVICE_IS_KNOWN = 2


class _StandIns:
    """What is a step where no optimizer steps: batches or calls, the first held back.

    One leader's count: the first one, until another comes twice in a row. (One of a pair, as two
    loaders that are zipped or the two losses of a GAN, is part of the same step.)
    """

    def __init__(self, source: int) -> None:
        self.source = source
        self.count = 0
        self.held_back: list[tuple[int, int, int, int]] = []
        self._end = RECORDER.started_ns
        self._leader: object = None
        self._stranger: tuple[object, int, int] | None = None

    def steps_of(self, one: object, samples: int) -> list[tuple[int, int, int, int]]:
        """Where `one` makes steps by coming now: the start, end, index and samples of each."""
        stranger, self._stranger = self._stranger, None
        steps = []
        if one != self._leader and self._leader is not None:
            if stranger is None or stranger[0] != one:
                self._stranger = (one, now_ns(), samples)
                return []
            steps.append(self._step(stranger[1], stranger[2]))
        self._leader = one
        steps.append(self._step(now_ns(), samples))
        return steps

    def _step(self, end_ns: int, samples: int) -> tuple[int, int, int, int]:
        start, self._end = self._end, end_ns
        index, self.count = self.count, self.count + 1
        return start, end_ns, index, samples


class Steps:
    """One step of the job = one step of one optimizer: the first that stepped, while it lasts.

    (A GAN's second optimizer is part of the same step.) The samples of a step are those of the
    batches that came since the last one from the loader that delivered last.

    Where no optimizer steps, as in inference or with one written by hand, a batch is a step; where
    no loader gives batches either, a call of backward() is.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._index = 0
        self._previous_end = RECORDER.started_ns
        self._leader: weakref.ref[Any] | None = None
        self._strangers = 0
        self._samples: dict[int, int] = {}
        self._last_loader = ABSENT
        self._window: timeline.Window | None = None
        self._device_asked = False
        self._gradients = False
        self._batches = _StandIns(_BATCH)
        self._backwards = _StandIns(_BACKWARD)
        self._calls = _StandIns(_CALL)

    def got(self, loader_id: int, samples: int) -> None:
        """A loader delivered a batch."""
        self._last_loader = loader_id
        if samples != ABSENT:
            self._samples[loader_id] = self._samples.get(loader_id, 0) + samples
        if self._leader is None and self._backwards.count < _STAND_INS_OF_ONE_STEP:
            self._stand_in(self._batches, loader_id, samples)

    def has_optimizer(self) -> bool:
        """Whether one stepped: no other kind of step is looked for then."""
        return self._leader is not None

    def went_back(self, place: object) -> None:
        """The job computed gradients, by a call of backward() at that place of its code."""
        if not self._gradients:
            self._gradients = True
            known = RECORDER.facts("trains_on")
            if known is not None:
                RECORDER.describe(trains_on={**known, "gradients": True})
        if self._leader is None and not self._batches.count:
            self._stand_in(self._backwards, place, ABSENT)

    def called(self, samples: int) -> None:
        """The model was called, of a job that infers (`unstarve tune` finds it)."""
        if self._leader is None and not self._batches.count and not self._backwards.count:
            self._stand_in(self._calls, None, samples)

    def _stand_in(self, stand_ins: _StandIns, one: object, samples: int) -> None:
        for step in stand_ins.steps_of(one, samples):
            start, end, index, _ = step
            stand_ins.held_back.append(step)
            ALLOCATOR.after_step(end)
            COUNTER.after_step(index, samples)
            if index == 0 or end - start > cupti.LONG_STEP_NS:
                cupti.after_step(index, end)
            if stand_ins.count < _STAND_INS_OF_ONE_STEP:
                continue
            self.finish()
            if stand_ins.count == _STAND_INS_OF_ONE_STEP:
                _describe_device_in_use(self._gradients)
            self._samples.clear()
            self._look_at_device(index - _STAND_INS_OF_ONE_STEP)

    def close_window(self) -> None:
        """The profiler's, where it is open: nobody watches any longer."""
        window, self._window = self._window, None
        if window is not None:
            window.finish("the watched block ended")

    def finish(self) -> None:
        """Records what was held back for an optimizer, where none stepped."""
        all_of_them = (self._batches, self._backwards, self._calls)
        stand_ins = next((one for one in all_of_them if one.count), self._batches)
        held_back, stand_ins.held_back = stand_ins.held_back, []
        if self._leader is None:
            for start, end, index, samples in held_back:
                RECORDER.record(STEP, start, end, index, samples, stand_ins.source)

    def stepped(self, optimizer: object) -> None:
        leader = self._leader() if self._leader is not None else None
        if optimizer is not leader:
            self._strangers += 1
            if leader is not None and self._strangers < _PATIENCE:
                return
            self._leader = weakref.ref(optimizer)
            for stand_ins in (self._batches, self._backwards, self._calls):
                stand_ins.held_back.clear()
            _describe_device(optimizer)
        self._strangers = 0
        index = self._index
        self._end(self._samples.get(self._last_loader, ABSENT), now_ns())
        # Behind the step, which counts also where a parameter cannot say its size.
        if index == _DEVICE_IS_KNOWN:
            RECORDER.describe(gradient_bytes=describe.gradient_bytes(optimizer))

    def _end(self, samples: int, end_ns: int) -> None:
        start, self._previous_end = self._previous_end, end_ns
        index, self._index = self._index, self._index + 1
        self._samples.clear()
        RECORDER.record(STEP, start, end_ns, index, samples, _OPTIMIZER)
        ALLOCATOR.after_step(end_ns)
        COUNTER.after_step(index, samples)
        if index == 0 or end_ns - start > cupti.LONG_STEP_NS:
            cupti.after_step(index, end_ns)
        self._look_at_device(index)

    def _look_at_device(self, index: int) -> None:
        """After the first steps it is clear whether the job uses CUDA."""
        if index == _DEVICE_IS_KNOWN and not self._device_asked:
            self._device_asked = True
            self._window = timeline.window()
            if self._window is not None or cupti.is_in_use():
                blocking.watch()
            if cupti.is_in_use():
                ALLOCATOR.watch()
        elif self._window is not None and not self._window.after_step(index):
            self._window = None


def _describe_device(optimizer: Any) -> None:
    """Where the parameters lie that are trained, as torch says it, and what its build is for."""
    try:
        device = next(p.device for g in optimizer.param_groups for p in g["params"])
        torch: Any = sys.modules["torch"]
        kind = str(device.type)
        hip, cuda = getattr(torch.version, "hip", None), getattr(torch.version, "cuda", None)
    except Exception:  # An optimizer of another kind: nothing is said.
        return
    words: dict[str, Any] = {"device": kind, "build": "rocm" if hip else "cuda" if cuda else ""}
    if kind == "cuda":
        words.update(_gpu_words(torch, device))
    RECORDER.describe(trains_on=words)


def _gpu_words(torch: Any, device: Any) -> dict[str, Any]:
    """Which of the machine's GPUs it is. CUDA is in use by now: nothing is initialised by us."""
    words: dict[str, Any] = {}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        words["visible"] = visible[:256]
    try:
        if not torch.cuda.is_initialized():
            return words
        words["ordinal"] = torch.cuda.current_device() if device.index is None else device.index
        uuid = getattr(torch.cuda.get_device_properties(words["ordinal"]), "uuid", None)
        if uuid is not None:
            words["uuid"] = str(uuid)
    except Exception as error:
        RECORDER.note_error(error)
    return words


def _describe_device_in_use(gradients: bool) -> None:
    """Without an optimizer: whether the job has begun to use CUDA is what torch can say.
    `gradients`: whether backward() was called until now."""
    try:
        torch: Any = sys.modules["torch"]
        device = "cuda" if torch.cuda.is_initialized() else "cpu"
        hip, cuda = getattr(torch.version, "hip", None), getattr(torch.version, "cuda", None)
    except Exception:  # A torch that is not whole: nothing is said.
        return
    build = "rocm" if hip else "cuda" if cuda else ""
    RECORDER.describe(trains_on={"device": device, "build": build, "gradients": gradients})


STEPS = Steps()
RECORDER.after_fork.append(STEPS.forget)
RECORDER.before_end.append(STEPS.finish)


def watch_optimizer(module: ModuleType) -> None:
    """torch.optim.optimizer, which is imported when torch's tensors are there."""
    register = getattr(module, "register_optimizer_step_post_hook", None)
    if register is not None:
        when_taken_back(register(_after_step).remove)
    else:
        _watch_old_optimizer(module.Optimizer)
    _watch_backward(sys.modules["torch"])


def _watch_backward(torch: Any) -> None:
    keep_out_of_graphs(torch)
    original = torch.Tensor.backward

    def backward(tensor: Any, *arguments: Any, **named: Any) -> Any:
        try:
            result = original(tensor, *arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise
        if STEPS.has_optimizer():
            return result
        try:
            caller = sys._getframe(1)
            STEPS.went_back((caller.f_code, caller.f_lineno))
        except Exception as error:
            RECORDER.note_error(error)
        return result

    put(torch.Tensor, "backward", in_the_place_of(original, backward))


def _after_step(optimizer: object, arguments: object, named: object) -> None:
    if _torch_is_compiling():
        return  # Dynamo traces this line away, instead of breaking the graph on what follows.
    try:
        STEPS.stepped(optimizer)
    except Exception as error:
        RECORDER.note_error(error)


def _torch_is_compiling() -> bool:
    compiler: Any = getattr(_torch, "compiler", None)
    return bool(hasattr(compiler, "is_compiling") and compiler.is_compiling())


# Being imported, since an optimizer is.
_torch: Any = sys.modules.get("torch")


def _watch_old_optimizer(optimizer_class: Any) -> None:
    """Before torch 2.0 there is no global hook; the class's `step` is wrapped, as torch does."""
    original = optimizer_class._hook_for_profile

    def _hook_for_profile(self: Any) -> None:
        original(self)
        kind: Any = type(self)
        step = kind.step
        if getattr(step, "_unstarve_watched", False):
            return

        def watched(self: Any, *arguments: Any, **named: Any) -> Any:
            try:
                result = step(self, *arguments, **named)
            except BaseException as error:
                hide_our_frame(error)
                raise
            _after_step(self, arguments, named)
            return result

        # torch looks for its own mark, `hooked`, on the function that the class has.
        watched.__dict__.update(getattr(step, "__dict__", {}), _unstarve_watched=True)
        put(kind, "step", in_the_place_of(step, watched))

    put(optimizer_class, "_hook_for_profile", in_the_place_of(original, _hook_for_profile))
