"""What a `collate_fn` makes of rows, each a dict.

def collate_fn(examples):
    pixel_values = torch.stack([example["pixel_values"] for example in examples])
    labels = torch.tensor([example["labels"] for example in examples])
    return {"pixel_values": pixel_values, "labels": labels}
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection
from dataclasses import dataclass
from types import BuiltinFunctionType, BuiltinMethodType
from typing import Any, Literal

from unstarve.lowering.inside import Unclear
from unstarve.lowering.originals import is_own
from unstarve.lowering.tables.functions import FunctionReading
from unstarve.lowering.tables.transforms import Batch, Column, Images


@dataclass(frozen=True)
class Stacked:
    """A tensor of a batch's images."""

    key: str


@dataclass(frozen=True)
class Values:
    """A tensor of a column's numbers. Whole numbers are int64."""

    column: str
    #: What others become; "default" is torch's default type.
    floats: Literal["float64", "float32", "default"] = "default"
    bools: Literal["bool", "int64"] = "bool"
    #: It was asked for int64: there must be no others.
    is_whole: bool = False


def read_collation(collate_fn: Any, rows: Batch, texts: Collection[str]) -> Any:
    """What the loop gets: Stacked and Values, in dicts, tuples and lists. None where the function
    does, or may do, anything else. `rows`: what each row has; `texts`: the columns of strings.

    Whether a column is one of numbers, and its images tensors of one size, is the caller's to ask.
    """
    torch_collate = sys.modules["torch.utils.data._utils.collate"]
    if is_own(collate_fn, torch_collate, "default_collate"):
        return {key: _of_torch(key, value) for key, value in rows.items()}
    if _is_transformers(collate_fn):
        return _by_transformers(rows, texts)
    try:
        form = _Collation(collate_fn, rows).result(_ROWS)
    except Unclear:
        return None
    return form if _is_form(form) else None


_ROWS = object()


@dataclass(frozen=True)
class _List:
    """Of what each row has at the key."""

    key: str


class _Collation(FunctionReading):
    def __init__(self, part: Any, rows: Batch) -> None:
        super().__init__(part)
        self._rows = rows
        self._torch = sys.modules["torch"]

    def each(self, name: str, values: Any, element: ast.expr) -> Any:
        if values is not _ROWS or not isinstance(element, ast.Subscript):
            raise Unclear
        row, key = element.value, self.key(element.slice)
        if not isinstance(row, ast.Name) or row.id != name or key not in self._rows:
            raise Unclear
        return _List(key)

    def other(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Tuple | ast.List):
            made = [self.expression(item) for item in node.elts]
            return tuple(made) if isinstance(node, ast.Tuple) else made
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            raise Unclear
        function = self.reader.value(node.func)
        listed = self.expression(node.args[0])
        value = self._rows[listed.key] if isinstance(listed, _List) else None
        if not isinstance(function, BuiltinFunctionType | BuiltinMethodType):
            raise Unclear  # torch's functions are such, unless somebody has exchanged them
        if function is self._torch.stack and isinstance(value, Images) and not node.keywords:
            return Stacked(listed.key)
        if function is self._torch.tensor and isinstance(value, Column):
            return Values(value.name, is_whole=self._asks_for_int64(node.keywords))
        raise Unclear

    def _asks_for_int64(self, keywords: list[ast.keyword]) -> bool:
        if not keywords:
            return False
        asked = len(keywords) == 1 and keywords[0].arg == "dtype"
        if not asked or self.reader.value(keywords[0].value) is not self._torch.int64:
            raise Unclear
        return True


def _is_form(made: Any) -> bool:
    if isinstance(made, dict):
        return bool(made) and all(map(_is_form, made.values()))
    if isinstance(made, tuple | list):
        return bool(made) and all(map(_is_form, made))
    return isinstance(made, Stacked | Values)


def _of_torch(key: str, value: Column | Images) -> Stacked | Values:
    return Stacked(key) if isinstance(value, Images) else Values(value.name, "float64")


_COLLATORS = "transformers.data.data_collator"
_BY_TRANSFORMERS = ("default_data_collator", "torch_default_data_collator")


def _is_transformers(function: Any) -> bool:
    """Whether it is the collator that the Trainer takes where it is given none."""
    module = sys.modules.get(_COLLATORS)
    if module is None:
        return False
    if not all(is_own(getattr(module, name, None), module, name) for name in _BY_TRANSFORMERS):
        return False
    kind = getattr(module, "DefaultDataCollator", None)
    if kind is not None and type(function) is kind:
        call = kind.__dict__.get("__call__")
        return function.return_tensors == "pt" and is_own(call, module, "__call__")
    return function is module.default_data_collator


def _by_transformers(rows: Batch, texts: Collection[str]) -> dict[str, Any] | None:
    if "label_ids" in rows:
        return None
    form: dict[str, Any] = {}
    label = rows.get("label")
    if isinstance(label, Images):
        return None
    if label is not None:
        form["labels"] = Values(label.name, "float32", "int64")
    for key, value in rows.items():
        if isinstance(value, Images):
            form[key] = Stacked(key)
        elif key != "label" and value.name not in texts:
            form[key] = Values(value.name)
    return form


__all__ = ["Stacked", "Values", "read_collation"]
