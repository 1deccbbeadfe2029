"""Functions that make batches of a table's columns are read, not run."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torchvision import transforms as v1
from unstarve.lowering.inside import AsRgb
from unstarve.lowering.tables.collation import Stacked, Values, read_collation
from unstarve.lowering.tables.transforms import Batch, Column, Images, read_function

CROP = v1.Compose([v1.RandomResizedCrop(24), v1.ToTensor()])
FLIP = v1.RandomHorizontalFlip()
COLUMNS = {"image": True, "label": False}
arguments = Namespace(image_column_name="image")


def steps_of(function: Callable[[Any], Any], key: str = "pixel_values") -> list[Any]:
    batch = read_function(function, COLUMNS)
    assert batch is not None
    images = batch[key]
    assert isinstance(images, Images) and images.name == "image"
    return [type(step) if isinstance(step, AsRgb) else step for step in images.steps]


def with_script_arguments(example_batch: Any) -> Any:
    """Apply transforms across a batch."""
    example_batch["pixel_values"] = [
        CROP(image.convert("RGB")) for image in example_batch[arguments.image_column_name]
    ]
    return example_batch


def in_two_lists(examples: Any) -> Any:
    images = [image.convert("RGB") for image in examples["image"]]
    images = [FLIP(CROP(image)) for image in images]
    made = {}
    made["pixel_values"] = images
    made["number"] = examples["label"]
    return made


def by_flag(examples: Any) -> Any:
    if arguments is None:
        return examples
    examples["pixel_values"] = [CROP(one.convert("RGB")) for one in examples["image"]]
    examples.pop("image")
    examples.pop("gone", None)
    return examples


def test_functions_that_transform_a_columns_images() -> None:
    assert steps_of(with_script_arguments) == [AsRgb, CROP]
    assert steps_of(in_two_lists) == [AsRgb, CROP, FLIP]
    assert steps_of(by_flag) == [AsRgb, CROP]
    batch = read_function(in_two_lists, COLUMNS)
    assert batch is not None and list(batch) == ["pixel_values", "number"]
    assert batch["number"] == Column("label")
    batch = read_function(by_flag, COLUMNS)
    assert batch is not None and list(batch) == ["label", "pixel_values"]


def changes_a_global(examples: Any) -> Any:
    global FLIP
    FLIP = CROP
    return examples


def calls_something(examples: Any) -> Any:
    examples["pixel_values"] = list(map(CROP, examples["image"]))
    return examples


def keeps_one(examples: Any) -> Any:
    return {"pixel_values": [CROP(image) for image in examples["image"]][:1]}


def some_images(examples: Any) -> Any:
    return {"pixel_values": [CROP(image) for image in examples["image"] if image.width > 3]}


def of_pairs(examples: Any) -> Any:
    pairs = zip(examples["image"], examples["label"], strict=True)
    return {"pixel_values": [CROP(image) for image, _ in pairs]}


def another_image(examples: Any) -> Any:
    first = examples["image"]
    return {"pixel_values": [CROP(first) for image in first]}


def of_labels(examples: Any) -> Any:
    return {"pixel_values": [CROP(label) for label in examples["label"]]}


def no_such_column(examples: Any) -> Any:
    return {"pixel_values": [CROP(image) for image in examples["picture"]]}


def deletes_twice(examples: Any) -> Any:
    del examples["image"]
    del examples["image"]
    return examples


def gives_nothing(examples: Any) -> Any:
    examples["pixel_values"] = [CROP(image) for image in examples["image"]]


def with_a_local(examples: Any) -> Any:
    crop = CROP
    return {"pixel_values": [crop(image) for image in examples["image"]]}


def with_more(examples: Any, crop: Any = CROP) -> Any:
    return {"pixel_values": [crop(image) for image in examples["image"]]}


async def asynchronous(examples: Any) -> Any:
    return examples


def generating(examples: Any) -> Any:
    yield examples


def generating_in_the_end(examples: Any) -> Any:
    return examples
    yield


def decorated(function: Any) -> Any:
    def call(examples: Any) -> Any:
        return function(function(examples))

    return call


@decorated
def twice(examples: Any) -> Any:
    return examples


OTHERS = [
    changes_a_global,
    calls_something,
    keeps_one,
    some_images,
    of_pairs,
    another_image,
    of_labels,
    no_such_column,
    deletes_twice,
    gives_nothing,
    with_a_local,
    with_more,
    asynchronous,
    generating,
    generating_in_the_end,
    twice,
    dict,
    lambda examples: 3,
    lambda examples: {},
    lambda examples: {**examples},
    lambda examples: examples["image"],
]


@pytest.mark.parametrize("function", OTHERS)
def test_whatever_else_a_function_does_it_is_not_read(function: Callable[[Any], Any]) -> None:
    assert read_function(function, COLUMNS) is None


ROWS: Batch = {"pixel_values": Images("image", (CROP,)), "label": Column("label")}


def guide(examples: Any) -> Any:
    pixel_values = torch.stack([example["pixel_values"] for example in examples])
    labels = torch.tensor([example["label"] for example in examples])
    return {"pixel_values": pixel_values, "labels": labels}


def test_collate_functions_that_stack_columns() -> None:
    labels = Values("label")
    assert read_collation(guide, ROWS, ()) == {
        "pixel_values": Stacked("pixel_values"),
        "labels": labels,
    }
    as_pair = read_collation(
        lambda rows: (
            torch.stack([row["pixel_values"] for row in rows]),
            torch.tensor([row["label"] for row in rows], dtype=torch.int64),
        ),
        ROWS,
        (),
    )
    assert as_pair == (Stacked("pixel_values"), Values("label", is_whole=True))
    default = torch.utils.data.default_collate
    assert read_collation(default, ROWS, ()) == {
        "pixel_values": Stacked("pixel_values"),
        "label": Values("label", "float64"),
    }


def test_collators_of_transformers_leave_text_out() -> None:
    from transformers.data import data_collator as collators

    rows: Batch = {**ROWS, "file": Column("file")}
    for collate_fn in (collators.default_data_collator, collators.DefaultDataCollator()):
        form = read_collation(collate_fn, rows, {"file"})
        assert form == {
            "labels": Values("label", "float32", "int64"),
            "pixel_values": Stacked("pixel_values"),
        }
    assert read_collation(collators.DefaultDataCollator("np"), rows, {"file"}) is None
    assert read_collation(collators.default_data_collator, {"label_ids": Column("x")}, ()) is None


def cat(rows: Any) -> Any:
    return torch.cat([row["pixel_values"] for row in rows])


def second_dimension(rows: Any) -> Any:
    return torch.stack([row["pixel_values"] for row in rows], dim=1)


def floats(rows: Any) -> Any:
    return torch.tensor([row["label"] for row in rows], dtype=torch.float32)


def not_there(rows: Any) -> Any:
    return torch.tensor([row["labels"] for row in rows])


def of_images(rows: Any) -> Any:
    return torch.tensor([row["pixel_values"] for row in rows])


def of_numbers(rows: Any) -> Any:
    return torch.stack([row["label"] for row in rows])


def adds_one(rows: Any) -> Any:
    return torch.tensor([row["label"] + 1 for row in rows])


def rows_alone(rows: Any) -> Any:
    return rows


def a_list_of_values(rows: Any) -> Any:
    return {"label": [row["label"] for row in rows]}


@pytest.mark.parametrize(
    "collate_fn",
    [
        cat,
        second_dimension,
        floats,
        not_there,
        of_images,
        of_numbers,
        adds_one,
        rows_alone,
        a_list_of_values,
    ],
)
def test_other_collate_functions_are_not_read(collate_fn: Callable[[Any], Any]) -> None:
    assert read_collation(collate_fn, ROWS, ()) is None
