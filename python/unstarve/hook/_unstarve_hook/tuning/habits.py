"""What a script does in its first steps: some levers apply only where it does it."""

from __future__ import annotations

import functools
from typing import Any

from ..recorder import RECORDER
from ..timeline import has_interop_threads
from ..wrap import compiling_of, put
from .levers import sdpa, set_to_none

#: Calls of attention that differ; more are not told apart.
_MOST_ATTENTIONS = 16


class Habits:
    """Watches from the import of torch until close(), in a survey alone. What it has put in the
    place of torch's functions stays there and only calls them: a script that compiles would have to
    do so again if they came back."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._is_open = True
        self._attentions_known: set[Any] = set()
        #: Of each kind of call: the back end that torch chooses, and those that could do it.
        self.attentions: list[tuple[str, set[str]]] = []
        self.chooses_attention = False  # the script has turned back ends off
        self.zeroing: set[bool] = set()  # what zero_grad() was called with
        self.pinning: set[bool] = set()  # of loaders that were iterated
        self.sets_interop_threads = False
        self.has_interop_threads = False  # known at close()

    def watch(self) -> None:
        torch = self._torch
        if sdpa.can_be_watched(torch):
            functional: Any = torch.nn.functional
            name = "scaled_dot_product_attention"
            # TorchScript cannot read a function of ours: to it this one is torch's.
            builtins: Any = torch.jit._builtins
            builtins._register_builtin(
                self._watched(functional, name, self._attention), f"aten::{name}"
            )
        self._watched(torch, "set_num_interop_threads", self._interop_threads)
        import torch.utils.data.dataloader as loaders

        self._watched(loaders.DataLoader, "__iter__", self._iterated)
        for holder in set_to_none.holders(torch):
            self._watched(holder, "zero_grad", self._zero_grad)

    def open(self) -> None:
        """Once more: what was seen so far was an evaluation before the training."""
        self._is_open = True

    def close(self) -> None:
        self._is_open = False
        self.has_interop_threads = has_interop_threads()

    def _watched(self, holder: Any, name: str, note: Any) -> Any:
        original = getattr(holder, name)
        is_compiling = compiling_of(self._torch)

        @functools.wraps(original)  # with its signature: accelerate looks at that
        def ours(*arguments: Any, **named: Any) -> Any:
            if is_compiling() or not self._is_open:
                return original(*arguments, **named)
            try:
                note(*arguments, **named)
            except Exception as error:
                RECORDER.note_error(error)
            return original(*arguments, **named)

        put(holder, name, ours)
        return ours

    def _interop_threads(self, count: int) -> None:
        self.sets_interop_threads = True

    def _iterated(self, loader: Any) -> None:
        self.pinning.add(bool(loader.pin_memory))

    def _zero_grad(self, holder: Any, set_to_none: bool = True) -> None:
        self.zeroing.add(bool(set_to_none))

    def _attention(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> None:
        torch = self._torch
        if query.device.type != "cuda" or not torch.is_grad_enabled():
            return
        more = (attn_mask is None, dropout_p, is_causal, enable_gqa)
        kind = (tuple(query.shape), tuple(key.shape), query.dtype, more)
        if kind in self._attentions_known or len(self._attentions_known) == _MOST_ATTENTIONS:
            return
        self._attentions_known.add(kind)
        if torch.is_autocast_enabled():  # which casts inside of the call
            modern = hasattr(torch, "get_autocast_dtype")
            dtype = torch.get_autocast_dtype("cuda") if modern else torch.get_autocast_gpu_dtype()
            query, key, value = (one.to(dtype) for one in (query, key, value))
        call = (query, key, value, attn_mask, dropout_p, is_causal)
        self.chooses_attention |= not sdpa.all_are_on(torch)
        self.attentions.append(sdpa.choices(torch, call, scale, enable_gqa))
