"""What a function given to `set_transform()` makes of a batch of columns.

def transforms(examples):
    examples["pixel_values"] = [augment(image.convert("RGB")) for image in examples["image"]]
    del examples["image"]
    return examples
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unstarve.lowering.inside import Unclear
from unstarve.lowering.tables.functions import FunctionReading
from unstarve.lowering.tables.processors import Processed, is_processor


@dataclass(frozen=True)
class Column:
    """A list of the column's values, as `datasets` gives them."""

    name: str


@dataclass(frozen=True)
class Images:
    """A list of a column's images, each behind these callables."""

    name: str
    steps: tuple[Any, ...] = ()


#: Of a batch, by the keys that the function leaves in it.
Batch = dict[str, "Column | Images"]


def read_function(function: Any, columns: Mapping[str, bool]) -> Batch | None:
    """None where it does, or may do, anything else. `columns`: whether each has images."""
    batch: Batch = {name: Images(name) if has else Column(name) for name, has in columns.items()}
    try:
        made: Batch = _Transform(function).result(batch)
    except Unclear:
        return None
    if type(made) is not dict or not made:
        return None
    return made if all(isinstance(value, Column | Images) for value in made.values()) else None


class _Transform(FunctionReading):
    def each(self, name: str, values: Any, element: ast.expr) -> Any:
        if not isinstance(values, Images):
            raise Unclear
        steps = self.reader.steps_of(name, element)
        return Images(values.name, (*values.steps, *steps))

    def other(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Call):
            raise Unclear
        if self.reader.is_builtin(node.func, "list") and len(node.args) == 1 and not node.keywords:
            return self.expression(node.args[0])
        return self._processed(node)

    def _processed(self, call: ast.Call) -> Any:
        """`processor(images, return_tensors="pt")`, of transformers."""
        processor = self.reader.value(call.func)
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        asked = named.pop("return_tensors", None)
        given = list(call.args)
        if "images" in named:
            given.append(named.pop("images"))
        is_torch = isinstance(asked, ast.Constant) and asked.value == "pt"
        if not is_processor(processor) or not is_torch or named or len(given) != 1:
            raise Unclear
        images = self.expression(given[0])
        if not isinstance(images, Images):
            raise Unclear
        return {"pixel_values": Images(images.name, (*images.steps, Processed(processor)))}


__all__ = ["Batch", "Column", "Images", "read_function"]
