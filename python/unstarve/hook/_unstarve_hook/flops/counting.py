"""Floating-point operations and bytes of the operators in an execution trace.

Products count 2 operations for each multiplication and addition: of matrices, convolutions and
attention, forward and backward, as they were done (what is computed again counts again).
Elementwise work, norms and reductions count none: their limit is the memory. What an operator reads
and writes are its operands, each once.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from typing import Any

from .caches import all_caches_bytes
from .products import PRODUCTS, UNCOUNTED

_TYPES = {
    "float": "float32",
    "double": "float64",
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "c10::Float8_e4m3fn": "float8",
    "c10::Float8_e5m2": "float8",
}
#: Of operators' names; theirs are torch's own, or no operators.
_OURS = ("aten", "prim", "prims", "profiler", "c10d", "autograd", "torch", "inductor")
_MAKERS = ("aten::empty", "aten::new_empty", "aten::resize_", "aten::set_", "aten::detach")
#: They read no more of their first operand than they write.
_GATHERERS = ("aten::embedding", "aten::index_select", "aten::index", "aten::gather", "aten::take")
#: They touch no more of their first operand than the others hold.
_SCATTERERS = ("aten::index_put", "aten::index_add", "aten::index_copy", "aten::scatter")
#: An operand, by its place, of which nothing, or a number a row, is read: it is written over, or
#: tells a shape.
_UNREAD = {
    "aten::copy_": 0,
    "aten::zero_": 0,
    "aten::fill_": 0,
    "aten::normal_": 0,
    "aten::uniform_": 0,
    "aten::bernoulli_": 0,
    "aten::random_": 0,
    "aten::exponential_": 0,
    "aten::nll_loss_forward": 0,
    "aten::nll_loss2d_forward": 0,
    "aten::nll_loss_backward": 1,
    "aten::nll_loss2d_backward": 1,
}
_COMPILED = ("Torch-Compiled Region", "CompiledFunction", "## Call CompiledFxGraph")
_MOST_NAMES = 6


class Tensor:
    """An operand, as the trace has it."""

    def __init__(self, value: list[Any], shape: list[int], kind: str, strides: Any) -> None:
        self.shape = shape
        self.kind = kind[len("Tensor(") : -1]
        self.storage = value[1]
        self.key = (value[1], value[2], value[3])
        self.device = str(value[5])
        numel = 1
        for place, size in enumerate(shape):
            if not (strides and place < len(strides) and strides[place] == 0):
                numel *= size
        self.bytes = numel * int(value[4])


class Operator:
    """A node of the trace with what it takes and gives; old traces have it flat."""

    def __init__(self, node: dict[str, Any]) -> None:
        self.name = str(node["name"])
        self.id = node["id"]
        self.parent = node.get("ctrl_deps", node.get("parent"))
        self.children: list[Operator] = []
        self._node = node

    def _parts(self, side: str) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
        part = self._node[side + "s"]
        if isinstance(part, dict):
            return part["values"], part["shapes"], part["types"], part.get("strides", [])
        return part, self._node[side + "_shapes"], self._node[side + "_types"], []

    @property
    def values(self) -> list[Any]:
        return self._parts("input")[0]

    def arguments(self) -> list[Tensor | None]:
        """By position; None for what is no tensor."""
        values, shapes, kinds, strides = self._parts("input")
        strides = strides or [None] * len(values)
        return [
            Tensor(*each) if _is_tensor(each[0], each[2]) else None
            for each in zip(values, shapes, kinds, strides)
        ]

    def operands(self, side: str) -> list[Tensor]:
        values, shapes, kinds, strides = self._parts(side)
        strides = strides or [None] * len(values)
        return [one for each in zip(values, shapes, kinds, strides) for one in _tensors(*each)]

    def results(self) -> list[Tensor | None]:
        values, shapes, kinds, _ = self._parts("output")
        return [
            Tensor(value, shape, kind, None) if _is_tensor(value, kind) else None
            for value, shape, kind in zip(values, shapes, kinds)
        ]

    def has_strides(self) -> bool:
        return bool(self._parts("input")[3])


def _moved(name: str, read: list[Tensor], written: list[Tensor]) -> tuple[int, int]:
    """Bytes that an operator reads and writes at least, each operand once."""
    unread = _UNREAD.get(name)
    if unread is not None:
        read = read[:unread] + read[unread + 1 :]
    out = _bytes_of(written)
    if name in _GATHERERS:
        return min(_bytes_of(read[:1]), out) + _bytes_of(read[1:]), out
    if name.startswith(_SCATTERERS):
        others = _bytes_of(read[1:])
        return others + min(_bytes_of(read[:1]), others), min(out, others)
    return _bytes_of(read), out


def _bytes_of(operands: list[Tensor]) -> int:
    return sum({one.key: one.bytes for one in operands}.values())


def _is_tensor(value: Any, kind: str) -> bool:
    return kind.startswith("Tensor(") and "nullptr" not in kind and len(value) == 6


def _tensors(value: Any, shape: Any, kind: str, strides: Any) -> Iterator[Tensor]:
    if _is_tensor(value, kind):
        yield Tensor(value, shape, kind, strides)
    elif kind.startswith("GenericList[Tensor("):
        kinds = kind[len("GenericList[") : -1].split(",")
        for one in zip(value, shape, kinds, strides or [None] * len(kinds)):
            if _is_tensor(one[0], one[2]):
                yield Tensor(*one)


def count_file(path: str, facts: dict[str, Any]) -> dict[str, Any]:
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    # Of operators on the GPU where there are such, else of all.
    device = "cuda" if '"cuda:' in text else "cpu"
    cpu = of_cpu() if device == "cpu" else {}
    # Of a million objects that all stay, the collector would look at each many times over.
    collects = gc.isenabled()
    gc.disable()
    try:
        return {**cpu, **count(json.loads(text)["nodes"], {**facts, **cpu}, device)}
    finally:
        if collects:
            gc.enable()


def of_cpu() -> dict[str, Any]:
    """In the place of what the hook learnt of a GPU."""
    return {
        "cache_bytes": all_caches_bytes(),
        "tf32_products": False,
        "tf32_convolutions": False,
    }


def count(nodes: list[dict[str, Any]], facts: dict[str, Any], device: str) -> dict[str, Any]:
    operators = {node["id"]: Operator(node) for node in nodes}
    roots: list[Operator] = []
    for operator in operators.values():
        parent = operators.get(operator.parent)
        (parent.children if parent and parent is not operator else roots).append(operator)
    counted = Counted(facts, device)
    for root in roots:
        counted.add(root)
    return counted.facts()


def _all(operators: list[Operator]) -> Iterator[Operator]:
    waiting = list(operators)
    while waiting:
        operator = waiting.pop()
        yield operator
        waiting.extend(operator.children)


class Counted:
    """What is added up over the operators of a step."""

    def __init__(self, facts: dict[str, Any], device: str) -> None:
        self._given = facts
        self._device = device
        self._flops: dict[str, int] = {}
        self._products = 0
        self._operand_bytes = 0
        self._beyond_cache_bytes = 0
        self._strides = False
        self._not_counted: list[str] = []
        self._compiled = False

    def add(self, root: Operator) -> None:
        """Depth first, without recursion: backward passes nest deep. Children come before."""
        order, waiting = [], [root]
        while waiting:
            operator = waiting.pop()
            order.append(operator)
            if not self._count_product(operator):
                waiting.extend(operator.children)
            else:
                operator.children = []
        works: dict[int, bool] = {}
        for operator in reversed(order):
            below = any(works[id(child)] for child in operator.children)
            works[id(operator)] = below or self._works(operator)

    def _count_product(self, operator: Operator) -> bool:
        self._compiled = self._compiled or operator.name.startswith(_COMPILED)
        formula = PRODUCTS.get(operator.name)
        if formula is None:
            self._note_uncounted(operator)
            return False
        arguments = operator.arguments()
        first = next(one for one in arguments if one is not None)
        if self._device not in first.device:
            return True
        kind = _TYPES.get(first.kind)
        if kind is None:
            self._note(f"{operator.name} of {first.kind}")
            return True
        if kind == "float32" and self._given.get(
            "tf32_convolutions" if "conv" in operator.name else "tf32_products"
        ):
            kind = "tf32"
        flops = formula(arguments, operator.values, operator.results())
        self._flops[kind] = self._flops.get(kind, 0) + flops
        self._products += 1
        return True

    def _note_uncounted(self, operator: Operator) -> None:
        space, colons, _ = operator.name.partition("::")
        strange = bool(colons) and space not in _OURS and " " not in space
        if not strange and not operator.name.startswith(UNCOUNTED):
            return
        below = list(_all(operator.children))
        if any(one.name in PRODUCTS for one in below):
            return
        if any(self._device in one.device for one in operator.operands("input")):
            self._note(operator.name)

    def _note(self, name: str) -> None:
        if name not in self._not_counted and len(self._not_counted) < _MOST_NAMES:
            self._not_counted.append(name[:60])

    def _works(self, operator: Operator) -> bool:
        """Whether it moves data, and no view or memory alone; adds what it moves."""
        if "::" not in operator.name or operator.name.startswith(_MAKERS):
            return False
        written = [one for one in operator.operands("output") if self._device in one.device]
        read = [one for one in operator.operands("input") if self._device in one.device]
        in_place = operator.name.endswith("_")
        stored = {one.storage for one in read}
        if not read or (not in_place and written and all(one.storage in stored for one in written)):
            return False
        self._strides = self._strides or operator.has_strides()
        cache = int(self._given.get("cache_bytes", 0))
        for size in _moved(operator.name, read, written):
            self._operand_bytes += size
            self._beyond_cache_bytes += max(0, size - cache)
        return True

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "device": self._device,
            "kinds": self._flops,
            "products": self._products,
        }
        if self._strides:  # else what is spread over others' memory cannot be told
            found["operand_bytes"] = self._operand_bytes
            if self._given.get("cache_bytes"):
                found["beyond_cache_bytes"] = self._beyond_cache_bytes
        if self._not_counted:
            found["not_counted"] = self._not_counted
        if self._compiled:
            found["compiled"] = True
        return found
