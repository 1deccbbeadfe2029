"""How many floating-point operations torch's products do, by the shapes of what they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: What an operator takes by position (None: no tensor), its plain arguments, what it gives.
Formula = Callable[[list[Any], list[Any], list[Any]], int]


def _size(shape: list[int]) -> int:
    size = 1
    for each in shape:
        size *= each
    return size


def _matrices(first: int, second: int) -> Formula:
    """[..., m, k] times [..., k, n], a vector being [k]."""

    def flops(taken: list[Any], values: list[Any], given: list[Any]) -> int:
        a, b = taken[first].shape, taken[second].shape
        columns: int = b[-1] if len(b) > 1 else 1
        return 2 * _size(a) * columns

    return flops


def _convolution(transposed: int) -> Formula:
    """Each number of the result, or of what is spread by a transposed one, meets a filter."""

    def flops(taken: list[Any], values: list[Any], given: list[Any]) -> int:
        meets = taken[0] if _is_true(values, transposed) else given[0]
        return 2 * _size(meets.shape) * _size(taken[1].shape[1:])

    return flops


def _convolution_backward(taken: list[Any], values: list[Any], given: list[Any]) -> int:
    """grad_output, input, weight, ...: the same for each gradient that is asked for."""
    meets = taken[1] if _is_true(values, 7) else taken[0]
    once = 2 * _size(meets.shape) * _size(taken[2].shape[1:])
    return once * sum(one is not None for one in given[:2])


def _recurrent(times: int) -> Formula:
    """A layer of oneDNN's LSTM: [steps, batch, width] meets the weights of inputs and of states."""

    def flops(taken: list[Any], values: list[Any], given: list[Any]) -> int:
        weights = _size(taken[1].shape) + _size(taken[2].shape)
        return times * 2 * _size(taken[0].shape[:2]) * weights

    return flops


def _attention(query: int, causal: int, of_query: int, of_value: int) -> Formula:
    """query, key and value lie beside each other. `of_query` products add up over the width of
    queries, `of_value` over that of values; of a causal one half is left out."""

    def flops(taken: list[Any], values: list[Any], given: list[Any]) -> int:
        q, k, v = (taken[query + place].shape for place in range(3))
        pairs = _size(q[:-2]) * q[-2] * k[-2]
        all_pairs: int = 2 * pairs * (of_query * q[-1] + of_value * v[-1])
        return all_pairs // 2 if _is_true(values, causal) else all_pairs

    return flops


def _is_true(values: list[Any], place: int) -> bool:
    return place < len(values) and str(values[place]).lower() == "true"


_SDPA = "aten::_scaled_dot_product_"

PRODUCTS: dict[str, Formula] = {
    "aten::mm": _matrices(0, 1),
    "aten::bmm": _matrices(0, 1),
    "aten::mv": _matrices(0, 1),
    "aten::_scaled_mm": _matrices(0, 1),
    "aten::addmm": _matrices(1, 2),
    "aten::addmm_": _matrices(1, 2),
    "aten::baddbmm": _matrices(1, 2),
    "aten::baddbmm_": _matrices(1, 2),
    "aten::addbmm": _matrices(1, 2),
    "aten::addmv": _matrices(1, 2),
    "aten::_addmm_activation": _matrices(1, 2),
    "aten::convolution": _convolution(6),
    "aten::_convolution": _convolution(6),
    "aten::convolution_backward": _convolution_backward,
    "aten::mkldnn_rnn_layer": _recurrent(1),
    "aten::mkldnn_rnn_layer_backward": _recurrent(2),
    _SDPA + "flash_attention": _attention(0, 4, 1, 1),
    _SDPA + "flash_attention_for_cpu": _attention(0, 4, 1, 1),
    _SDPA + "efficient_attention": _attention(0, 6, 1, 1),
    _SDPA + "cudnn_attention": _attention(0, 6, 1, 1),
    # Backward: the scores once more, and the gradients of values, scores, queries and keys.
    _SDPA + "flash_attention_backward": _attention(1, 11, 3, 2),
    _SDPA + "flash_attention_for_cpu_backward": _attention(1, 7, 3, 2),
    _SDPA + "efficient_attention_backward": _attention(1, 11, 3, 2),
    _SDPA + "cudnn_attention_backward": _attention(1, 14, 3, 2),
}

#: What multiplies and has no formula here.
UNCOUNTED = (
    "aten::_cudnn_rnn",
    "aten::_grouped_mm",
    "aten::_scaled_grouped_mm",
    "aten::_flash_attention_",
    "aten::_efficient_attention_",
    "aten::_cudnn_attention_",
    "aten::_int_mm",
    "aten::_weight_int4pack_mm",
)
