"""Looks at a `Dataset` of Hugging Face's `datasets` whose samples a function makes of columns."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from typing import Any

from unstarve.lowering.composition import Verdict, read_transform
from unstarve.lowering.inside import AsRgb
from unstarve.lowering.originals import has_own_methods, is_own, is_plain
from unstarve.lowering.plan import Plan
from unstarve.lowering.reader import Steps
from unstarve.lowering.tables.collation import Stacked, Values, read_collation
from unstarve.lowering.tables.processors import Processed
from unstarve.lowering.tables.transforms import Batch, Images, read_function

_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
_FLOATS = {"float": "float32", "double": "float64"}  # as Arrow names them


class TableImages:
    """A column of images of one table. All loaders of it share it."""

    def __init__(self, table: Any, column: str) -> None:
        self.table = table
        self.column = column
        #: What the engine made of it.
        self.compiled: Any = None
        #: Of data sets of this table, by what they are: why it cannot load them, or None.
        self.obstacles: dict[Any, str | None] = {}

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def stream(self) -> Any:
        """The column through Arrow's C stream interface."""
        return self.table.select([self.column]).__arrow_c_stream__()


@dataclass(frozen=True)
class TableRows:
    """How a table's rows become batches."""

    images: TableImages
    #: Images of other modes are Python's: the function does not convert them.
    only_rgb: bool
    #: Results are compared with those of the data set too: a processor made them.
    compares_results: bool
    #: Where a row has the image.
    image_key: str
    #: What a batch is: see read_collation().
    form: Any
    #: What is in it beside the images: a tensor with a number for each row of the table.
    values: dict[Values, Any]
    #: By the keys of a row: which of them it has there.
    keys: dict[str, Values]


@dataclass(frozen=True)
class TableLook:
    """What was found: (part, obstacle) of each, and where there is none, the rest."""

    verdicts: list[Verdict]
    plan: Plan | None = None
    rows: TableRows | None = None
    #: Which row of the table an index means; None: they are the same.
    indices: Any = None


def is_table(dataset: Any) -> bool:
    module = sys.modules.get("datasets.arrow_dataset")
    return module is not None and type(dataset) is module.Dataset


def look_at_table(dataset: Any, collate_fn: Any) -> TableLook:
    """Its parts up to the first that cannot be translated, but all transforms."""
    try:
        return _look(dataset, collate_fn)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # Much of it is private to `datasets`, whose versions may differ.
        return TableLook([Verdict(f"data set {type(dataset).__name__}", f"not as known: {error}")])


def _look(dataset: Any, collate_fn: Any) -> TableLook:
    verdicts = [Verdict(f"data set {type(dataset).__name__}", _obstacle(dataset))]
    if verdicts[-1].obstacle is not None:
        return TableLook(verdicts)
    columns = _columns(dataset)
    batch = read_function(dataset._format_kwargs["transform"], columns)
    verdicts.append(Verdict("function given to set_transform", None if batch else _UNREAD))
    if batch is None:
        return TableLook(verdicts)
    form = read_collation(collate_fn, batch, _texts(dataset))
    verdicts.append(Verdict("collate_fn", None if form else "not one that only stacks columns"))
    if form is None:
        return TableLook(verdicts)
    return _look_at_batch(dataset, batch, form, verdicts)


_UNREAD = "not one that only transforms the images of a column, one by one"


def _obstacle(dataset: Any) -> str | None:
    if dataset._format_type != "custom" or dataset._output_all_columns:
        return "no function that was given to set_transform() alone makes its samples"
    formatting = sys.modules["datasets.formatting.formatting"]
    features = sys.modules["datasets.features"]
    kinds = (
        type(dataset),
        formatting.CustomFormatter,
        formatting.PythonArrowExtractor,
        formatting.PythonFeaturesDecoder,
        features.Features,
        features.Image,
    )
    is_known = sys.modules["datasets.formatting"]._FORMAT_TYPES.get("custom") is kinds[1]
    if not is_known or not is_plain(dataset) or not all(map(has_own_methods, kinds)):
        return "methods of it, or of its classes, have been exchanged"
    pillow = sys.modules.get("PIL.Image")
    if pillow is None or not is_own(pillow.open, pillow, "open"):
        return "PIL's Image.open has been exchanged"
    if len(dataset) == 0:
        return "it has no rows"
    return None


def _columns(dataset: Any) -> dict[str, bool]:
    """Those that the function gets, and whether they are images."""
    kind = sys.modules["datasets.features"].Image
    shown = dataset._format_columns
    return {
        name: type(dataset.features[name]) is kind and dataset.features[name].decode is True
        for name in dataset._data.column_names
        if shown is None or name in shown
    }


def _texts(dataset: Any) -> set[str]:
    table = dataset._data.table
    return {
        name
        for name in table.column_names
        if str(table.column(name).type) in ("string", "large_string")
        and table.column(name).null_count == 0
    }


def _look_at_batch(dataset: Any, batch: Batch, form: Any, verdicts: list[Verdict]) -> TableLook:
    leaves = list(_leaves(form))
    keys = {leaf.key for leaf in leaves if isinstance(leaf, Stacked)}
    if len(keys) != 1:
        verdicts.append(Verdict("images", f"{len(keys)} columns of images in a batch"))
        return TableLook(verdicts)
    (image_key,) = keys
    images = batch[image_key]
    assert isinstance(images, Images)
    plan, transforms = _plan(dataset, images)
    tensors = {
        leaf: _numbers(dataset._data.table, leaf) for leaf in leaves if isinstance(leaf, Values)
    }
    verdicts += [
        Verdict(f"column {leaf.column}", None if tensor is not None else "not numbers alone")
        for leaf, tensor in tensors.items()
    ]
    verdicts += transforms
    if plan is None or any(tensor is None for tensor in tensors.values()):
        return TableLook(verdicts)
    by_column = {leaf.column: leaf for leaf in tensors}
    by_key = {
        key: by_column[value.name]
        for key, value in batch.items()
        if not isinstance(value, Images) and value.name in by_column
    }
    indices = dataset._indices
    return TableLook(
        verdicts,
        plan,
        TableRows(
            _known.get(dataset, images.name),
            not _converts(dataset, images),
            any(isinstance(step, Processed) for step in images.steps),
            image_key,
            form,
            tensors,
            by_key,
        ),
        None if indices is None else indices.column(0).to_numpy(),
    )


def _plan(dataset: Any, images: Images) -> tuple[Plan | None, list[Verdict]]:
    mode = getattr(dataset.features[images.name], "mode", None)  # older ones have none
    if mode not in (None, "RGB"):
        return None, [Verdict(f"column {images.name}", f"its images are of mode {mode}")]
    return read_transform(Steps(images.steps))


def _converts(dataset: Any, images: Images) -> bool:
    """Whether images of other modes become RGB before anything else happens to them."""
    mode = getattr(dataset.features[images.name], "mode", None)
    return mode == "RGB" or (len(images.steps) > 0 and isinstance(images.steps[0], AsRgb))


def _leaves(form: Any) -> list[Any]:
    if isinstance(form, dict | tuple | list):
        inner = form.values() if isinstance(form, dict) else form
        return [leaf for part in inner for leaf in _leaves(part)]
    return [form]


def _numbers(table: Any, leaf: Values) -> Any:
    """The column as a tensor; None where torch would not make one of its values."""
    torch = sys.modules["torch"]
    column = table.column(leaf.column)
    kind = str(column.type)
    if column.null_count != 0 or (leaf.is_whole and kind not in _WHOLE):
        return None
    if kind in _WHOLE:
        return torch.from_numpy(column.to_numpy().astype("int64"))
    if kind == "bool":
        return torch.from_numpy(column.to_numpy().astype(leaf.bools))
    if kind not in _FLOATS:
        return None
    default = torch.get_default_dtype()
    dtype = default if leaf.floats == "default" else getattr(torch, leaf.floats)
    return torch.from_numpy(column.to_numpy().astype("float64")).to(dtype)


class _Known:
    """Of each data set's table that lives: its columns of images, so that loaders share them."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[weakref.ref[Any], dict[str, TableImages]]] = {}

    def get(self, dataset: Any, column: str) -> TableImages:
        key = id(dataset._data)
        owner, columns = self._found.get(key, (None, {}))
        if owner is None or owner() is not dataset._data:
            forget = weakref.ref(dataset._data, lambda _: self._found.pop(key, None))
            columns = {}
            self._found[key] = (forget, columns)
        if column not in columns:
            columns[column] = TableImages(dataset._data.table, column)
        return columns[column]


_known = _Known()


__all__ = ["TableImages", "TableLook", "TableRows", "is_table", "look_at_table"]
