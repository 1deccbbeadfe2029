"""Another back end of torch's attention than the one that torch chooses by itself."""

from __future__ import annotations

from typing import Any

from ..refusal import LeverRefusedError

# In the order of torch's SDPBackend: by their words in torch.backends.cuda.
_WORDS = {"math": "math", "flash": "flash", "efficient": "mem_efficient", "cudnn": "cudnn"}
_CAN_USE = {
    "flash": "can_use_flash_attention",
    "efficient": "can_use_efficient_attention",
    "cudnn": "can_use_cudnn_attention",
}


class BackEnd:
    NEEDS_ROOT = False
    NEEDS_HABITS = True

    def __init__(self, name: str) -> None:
        self._name = name

    def check(self, job: Any, settings: dict[str, Any]) -> None:
        if job.device != "cuda":
            raise LeverRefusedError("on a CPU torch chooses its only fast one by itself")
        if not hasattr(job.torch.backends.cuda, f"enable_{_WORDS[self._name]}_sdp"):
            raise LeverRefusedError("this torch has none")
        if not can_be_watched(job.torch):
            raise LeverRefusedError("this torch is older than 2.3")
        if job.habits is None:  # a trial: the survey has seen the calls
            return
        calls = job.habits.attentions
        if not calls:
            raise LeverRefusedError("nothing calls scaled_dot_product_attention in the first steps")
        if job.habits.chooses_attention:
            raise LeverRefusedError("the script chooses among them already")
        if not all(self._name in possible for _, possible in calls):
            raise LeverRefusedError("it cannot do what the job asks for")
        if all(self._name == chosen for chosen, _ in calls):
            raise LeverRefusedError("torch chooses it by itself")

    def apply(self, job: Any, settings: dict[str, Any]) -> None:
        """What is as fast as torch's own choice can be left to fall back on; not cuDNN's, before
        which torch would choose it."""
        on = {self._name, "cudnn" if self._name == "cudnn" else "math"}
        for name, word in _WORDS.items():
            turn = getattr(job.torch.backends.cuda, f"enable_{word}_sdp", None)
            if turn is not None:
                turn(name in on)


sdpa_flash = BackEnd("flash")
sdpa_efficient = BackEnd("efficient")
sdpa_math = BackEnd("math")
sdpa_cudnn = BackEnd("cudnn")


def can_be_watched(torch: Any) -> bool:
    """Calls are told from those that torch.compile traces and TorchScript reads."""
    return hasattr(torch.compiler, "is_compiling") and hasattr(torch.jit, "_builtins")


def all_are_on(torch: Any) -> bool:
    asked = (getattr(torch.backends.cuda, f"{word}_sdp_enabled", None) for word in _WORDS.values())
    return all(is_on() for is_on in asked if is_on is not None)


def choices(
    torch: Any, call: tuple[Any, ...], scale: float | None, grouped: bool
) -> tuple[str, set[str]]:
    """The back end that torch chooses for a call, and those that could do it."""
    cuda = torch.backends.cuda
    named = {"enable_gqa": True} if grouped else {}
    chosen = int(torch._fused_sdp_choice(*call, scale=scale, **named))
    names = list(_WORDS)
    try:
        parameters = cuda.SDPAParams(*call, grouped)
    except TypeError:  # before torch 2.5, which has no groups
        parameters = cuda.SDPAParams(*call)
    possible = {"math"}
    for name, asked in _CAN_USE.items():
        if _can(getattr(cuda, asked, None), parameters):
            possible.add(name)
    return names[chosen] if 0 <= chosen < len(names) else "", possible


def _can(asked: Any, parameters: Any) -> bool:
    try:
        return asked is not None and bool(asked(parameters))
    except RuntimeError:  # a library of it is not there
        return False
