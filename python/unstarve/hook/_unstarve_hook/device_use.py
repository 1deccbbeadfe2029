"""Notes the thread that first uses the GPU, so that its stack is looked at even where the job has
neither a DataLoader nor an optimizer: inference, queues and loops of the job's own.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .lines import sampler  # noqa: F401  (it starts with the first thread that is noted)
from .recorder import RECORDER
from .wrap import hide_our_frame, in_the_place_of, put


def watch_cuda(module: ModuleType) -> None:
    """torch.cuda, whose `_lazy_init` whatever needs the GPU calls by name, also from C++."""
    cuda: Any = module
    original = vars(cuda).get("_lazy_init")
    if original is None:
        return

    def _lazy_init(*arguments: Any, **named: Any) -> Any:
        try:
            result = original(*arguments, **named)
        except BaseException as error:
            hide_our_frame(error)
            raise
        try:
            if vars(cuda).get("_lazy_init") is ours:  # Once is enough, and it is called often.
                cuda._lazy_init = original
            RECORDER.note_thread()
        except Exception as error:
            RECORDER.note_error(error)
        return result

    ours = in_the_place_of(original, _lazy_init)
    put(cuda, "_lazy_init", ours)
