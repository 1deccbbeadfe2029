"""Data sets of Hugging Face's `datasets`, whose images lie in an Arrow column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import unstarve
from made_photos import make_photos
from made_tables import EVALUATION, assert_alike, both, datasets, guide, table
from torch.utils import data
from torchvision import transforms as v1
from torchvision.transforms import v2

CROPS = v1.Compose([v1.RandomResizedCrop(24), v1.ToTensor()])


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    folder = make_photos(tmp_path_factory.mktemp("photos"), 90, 70)
    return [path.read_bytes() for path in sorted(folder.iterdir())]


@pytest.fixture
def dataset(photos: list[bytes], tmp_path: Path) -> Any:
    """Mapped from several files, in several chunks."""
    table(photos).save_to_disk(tmp_path / "saved", num_shards=3)
    return datasets.load_from_disk(tmp_path / "saved")


def random_crops(examples: Any) -> Any:
    return {
        "pixel_values": [CROPS(image.convert("RGB")) for image in examples["image"]],
        "label": examples["label"],
    }


def stack(examples: Any) -> Any:
    pixel_values = torch.stack([example["pixel_values"] for example in examples])
    labels = torch.tensor([example["label"] for example in examples])
    return {"pixel_values": pixel_values, "labels": labels}


def anew(examples: Any) -> Any:
    pictures = [picture.convert("RGB") for picture in examples["image"]]
    made = {"label": examples["label"]}
    made["pixel_values"] = [EVALUATION(picture) for picture in pictures]
    return made


def popped(examples: Any) -> Any:
    examples["pixel_values"] = [EVALUATION(image.convert("RGB")) for image in examples["image"]]
    examples.pop("image")
    return examples


class Preset:
    def __init__(self, column: str) -> None:
        self.column = column
        self.transform = v2.Compose(
            [
                v2.ToImage(),
                v2.Resize(48, antialias=True),
                v2.CenterCrop(40),
                v2.ToDtype(torch.float32, scale=True),
            ]
        )

    def __call__(self, batch: Any) -> Any:
        images = batch[self.column]
        batch["pixel_values"] = [self.transform(one.convert("RGB")) for one in images]
        if self.column is not None:
            del batch[self.column]
        return batch


def closure() -> Any:
    key, transform = "image", EVALUATION

    def apply(examples: Any) -> Any:
        examples[key] = [transform(image.convert("RGB")) for image in examples[key]]
        return examples

    return apply


FUNCTIONS: dict[str, Any] = {
    "guide": guide,
    "anew": anew,
    "popped": popped,
    "an object": Preset("image"),
    "a method": Preset("image").__call__,
    "in place": closure(),
    "lambda": lambda rows: {"x": [EVALUATION(i.convert("RGB")) for i in rows["image"]]},
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_torchs(dataset: Any, name: str, workers: int) -> None:
    own = dataset.with_transform(FUNCTIONS[name])
    batches = both(own, num_workers=workers)
    assert len(batches) == 3
    for expected, got in batches:
        assert_alike(expected, got)


def pair(rows: Any) -> Any:
    return (
        torch.stack([row["pixel_values"] for row in rows]),
        torch.tensor([row["label"] for row in rows], dtype=torch.long),
    )


def images_alone(rows: Any) -> Any:
    return torch.stack([row["pixel_values"] for row in rows])


@pytest.mark.parametrize("collate_fn", [stack, pair, images_alone])
def test_batches_are_what_collate_fn_makes(dataset: Any, collate_fn: Callable[[Any], Any]) -> None:
    for expected, got in both(dataset.with_transform(guide), collate_fn=collate_fn):
        assert_alike(expected, got)


def test_collators_of_transformers(dataset: Any) -> None:
    import transformers

    named = dataset.add_column("file", [f"{number}.jpg" for number in range(12)])
    for collate_fn in (transformers.default_data_collator, transformers.DefaultDataCollator()):
        for expected, got in both(named.with_transform(guide), collate_fn=collate_fn):
            assert list(got) == ["labels", "pixel_values"]
            assert_alike(expected, got)


def test_columns_of_numbers_have_torchs_types(photos: list[bytes]) -> None:
    columns = {
        "small": (list(range(12)), datasets.Value("uint8")),
        "is_new": ([number % 3 == 0 for number in range(12)], datasets.Value("bool")),
        "weight": ([number / 7 for number in range(12)], datasets.Value("float32")),
        "kind": ([number % 2 for number in range(12)], datasets.ClassLabel(names=["a", "b"])),
    }
    dataset = table(photos, **columns).with_transform(guide)
    for expected, got in both(dataset):
        assert_alike(expected, got)

    def weights(rows: Any) -> Any:
        weight = torch.tensor([row["weight"] for row in rows])
        return {"x": torch.stack([row["pixel_values"] for row in rows]), "weight": weight}

    for expected, got in both(dataset, collate_fn=weights):
        assert_alike(expected, got)


def test_a_column_may_be_in_a_batch_twice(photos: list[bytes]) -> None:
    weights = ([number / 7 for number in range(12)], datasets.Value("float64"))
    dataset = table(photos, weight=weights).with_transform(guide)

    def twice(rows: Any) -> Any:
        weight = torch.tensor([row["weight"] for row in rows], dtype=torch.long)
        again = torch.tensor([row["weight"] for row in rows])
        return {"x": torch.stack([row["pixel_values"] for row in rows]), "a": weight, "b": again}

    assert unstarve.DataLoader(dataset, collate_fn=twice).explain().engine == "torch"


def test_labels_that_are_bools(photos: list[bytes]) -> None:
    import transformers

    dataset = table(photos).remove_columns("label")
    dataset = dataset.add_column("label", [number % 2 == 0 for number in range(12)])
    batches = both(dataset.with_transform(guide), collate_fn=transformers.default_data_collator)
    for expected, got in batches:
        assert got["labels"].dtype == torch.int64
        assert_alike(expected, got)


def test_rows_that_were_chosen_and_shuffled(dataset: Any) -> None:
    whole = dataset.with_transform(guide)
    cases = [
        whole.select([9, 3, 3, 0, 11]),
        whole.select(range(4, 9)),
        whole.shuffle(seed=3),
        whole.train_test_split(test_size=0.4, seed=1)["train"],
        whole.shuffle(seed=2).shard(num_shards=2, index=1),
        data.Subset(whole.shuffle(seed=4), [5, 0, 7]),
        data.Subset(data.Subset(whole, range(2, 10)), [1, -1]),
        datasets.concatenate_datasets([dataset, dataset.select([1, 2])]).with_transform(guide),
    ]
    for case in cases:
        for expected, got in both(case, batch_size=4, shuffle=True):
            assert torch.equal(expected["label"], got["label"])
            assert_alike(expected, got)


def test_an_index_that_means_no_row_raises_what_it_would(dataset: Any) -> None:
    sampler = [0, 1, 99]
    for loader in (data.DataLoader, unstarve.DataLoader):
        batches = iter(loader(dataset.with_transform(guide), sampler=sampler, batch_size=2))
        assert next(batches)["label"].tolist() == [0, 1]
        with pytest.raises(IndexError, match="99"):
            next(batches)


def test_random_crops_follow_the_seed_whatever_the_threads(dataset: Any) -> None:
    dataset = dataset.with_transform(random_crops)
    passes = []
    for seed, workers in ((1, 1), (1, 2), (2, 1)):
        torch.manual_seed(seed)
        loader = unstarve.DataLoader(dataset, batch_size=4, shuffle=True, num_workers=workers)
        assert loader.explain().engine == "native"
        passes.append(torch.cat([batch["pixel_values"] for batch in loader]))
    assert torch.equal(passes[0], passes[1]) and not torch.equal(passes[0], passes[2])


def test_it_goes_on_where_it_was(dataset: Any) -> None:
    dataset = dataset.with_transform(random_crops)

    def make() -> Any:
        return unstarve.DataLoader(dataset, batch_size=4, shuffle=True, num_workers=1)

    loader = make()
    iterator = iter(loader)
    next(iterator)
    state = loader.state_dict()
    expected = [batch["pixel_values"] for batch in iterator]
    resumed = make()
    resumed.load_state_dict(state)
    for one, batch in zip(expected, resumed, strict=True):
        assert torch.equal(one, batch["pixel_values"])


def prints(examples: Any) -> Any:
    print("here")
    return guide(examples)


def filtered(examples: Any) -> Any:
    examples["pixel_values"] = [
        EVALUATION(image.convert("RGB")) for image in examples["image"] if image.size[0] > 0
    ]
    del examples["image"]
    return examples


def unconverted(examples: Any) -> Any:
    return {"pixel_values": [EVALUATION(image) for image in examples["image"]]}


def two_views(examples: Any) -> Any:
    images = [image.convert("RGB") for image in examples["image"]]
    return {"one": [EVALUATION(i) for i in images], "two": [CROPS(i) for i in images]}


def keeps_the_image(examples: Any) -> Any:
    examples["pixel_values"] = [EVALUATION(image.convert("RGB")) for image in examples["image"]]
    return examples


@pytest.mark.parametrize("function", [prints, filtered, two_views, keeps_the_image])
def test_other_functions_stay_python(dataset: Any, function: Callable[[Any], Any]) -> None:
    explanation = unstarve.DataLoader(dataset.with_transform(function), num_workers=1).explain()
    assert explanation.engine == "workers", explanation


def adds(rows: Any) -> Any:
    return torch.stack([row["pixel_values"] for row in rows]) + 1


def test_other_collate_functions_stay_python(dataset: Any) -> None:
    loader = unstarve.DataLoader(dataset.with_transform(guide), collate_fn=adds, num_workers=1)
    explanation = loader.explain()
    assert explanation.engine == "workers" and "collate_fn" in explanation.reason


def test_other_columns_and_formats_stay_python(dataset: Any) -> None:
    grey = dataset.cast_column("image", datasets.Image(mode="L"))
    named = dataset.add_column("file", ["a"] * 12)
    holed = dataset.add_column("weight", [None, *[0.5] * 11])
    cases = [
        dataset,
        dataset.with_format("torch"),
        grey.with_transform(guide),
        named.with_transform(guide),
        holed.with_transform(guide),
        dataset.with_transform(random_crops, columns=["image"], output_all_columns=True),
    ]
    for case in cases:
        assert unstarve.DataLoader(case, num_workers=1).explain().engine == "workers", case


def test_a_mode_of_the_feature_is_as_good_as_converting(dataset: Any) -> None:
    rgb = dataset.cast_column("image", datasets.Image(mode="RGB")).with_transform(unconverted)
    for expected, got in both(rgb):
        assert_alike(expected, got)


def test_columns_that_the_function_gets(dataset: Any) -> None:
    named = dataset.add_column("file", ["a"] * 12)
    for expected, got in both(named.with_transform(guide, columns=["image", "label"])):
        assert list(got) == ["label", "pixel_values"]
        assert_alike(expected, got)


def test_what_somebody_exchanged_is_noticed(dataset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(datasets.Dataset):  # type: ignore[misc]
        pass

    def explained() -> str:
        loader = unstarve.DataLoader(dataset.with_transform(guide), num_workers=1)
        return str(loader.explain().engine)

    monkeypatch.setattr(datasets.Image, "decode_example", lambda self, value, **_: value)
    assert explained() == "workers"
    monkeypatch.undo()
    assert explained() == "native"
    dataset.__class__ = Mine
    assert explained() == "workers"


def test_another_function_in_the_next_epoch(dataset: Any) -> None:
    dataset.set_transform(guide)
    loader = unstarve.DataLoader(dataset, batch_size=4)
    assert next(iter(loader))["pixel_values"].shape == (4, 3, 40, 40)
    dataset.set_transform(random_crops)
    assert next(iter(loader))["pixel_values"].shape == (4, 3, 24, 24)


def test_an_iterable_data_set_stays_python(dataset: Any) -> None:
    stream = dataset.to_iterable_dataset(num_shards=2).map(
        guide, batched=True, remove_columns=["image"]
    )
    loader = unstarve.DataLoader(stream, batch_size=4, num_workers=1)
    assert loader.explain().engine == "workers"
    assert sum(len(batch["label"]) for batch in loader) == 12
