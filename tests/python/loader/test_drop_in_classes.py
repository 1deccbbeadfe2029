"""A script's own loader class may be what torch's lets it be."""

from __future__ import annotations

import abc
import collections.abc
import typing
from typing import Any

import pytest
import torch
import typing_extensions
from torch.utils.data import DataLoader as TorchLoader
from unstarve import DataLoader


class Sized(typing.Protocol):
    def __len__(self) -> int: ...


class Explained(typing_extensions.Protocol):
    def explain(self) -> Any: ...


@pytest.mark.parametrize("base", [abc.ABC, collections.abc.Iterable, Sized, Explained])
def test_it_derives_from_what_has_a_metaclass_of_its_own(base: Any) -> None:
    class Own(DataLoader, base):  # type: ignore[misc]
        pass

    loader = Own(list(range(4)), batch_size=2)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3]]
    assert isinstance(loader, Own) and isinstance(loader, DataLoader)
    assert isinstance(loader, TorchLoader)
    assert not isinstance(DataLoader([1]), Own) and not issubclass(TorchLoader, Own)


def test_what_is_abstract_stays_so() -> None:
    class Abstract(DataLoader, abc.ABC):
        @abc.abstractmethod
        def prepare(self) -> None: ...

    class Whole(Abstract):
        def prepare(self) -> None: ...

    with pytest.raises(TypeError, match="abstract"):
        Abstract([1])
    assert next(iter(Whole([1]))).tolist() == [1]


def test_registered_classes_count() -> None:
    class Own(DataLoader, abc.ABC):
        pass

    Own.register(list)
    assert isinstance([], Own) and not isinstance({}, Own)


def test_it_has_parameters() -> None:
    class Own(DataLoader[torch.Tensor]):
        pass

    assert "DataLoader[int]" in str(DataLoader[int])
    assert [int(batch) for batch in Own([1, 2])] == [1, 2]


class Named(DataLoader):
    """Has a name for everything."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._stream = self._files_of = self._order = self._engine = self._work = "mine"
        self.__dict__["stats"] = {"mean": 0.0}

    def _choose(self) -> str:
        return "mine"

    def _is_map_style(self) -> str:
        return "mine"

    def _workers_resumed(self) -> str:
        return "mine"


@pytest.mark.parametrize("workers", [0, 1])
def test_its_names_are_its_own(workers: int) -> None:
    loader = Named(list(range(4)), batch_size=2, num_workers=workers)
    batches = iter(loader)
    assert next(batches).tolist() == [0, 1]
    state = loader.state_dict()
    loader.load_state_dict(state)
    assert [batch.tolist() for batch in loader] == [[2, 3]]
    assert (loader._stream, loader._choose()) == ("mine", "mine")


def test_all_that_we_add_has_our_name() -> None:
    loader = DataLoader([1])
    list(loader)
    loader.state_dict()
    own = {name for name in vars(loader) if name not in vars(TorchLoader([1]))}
    own |= {name for name in vars(DataLoader) if name not in vars(TorchLoader)}
    public = {"explain", "set_epoch", "state_dict", "stats", "load_state_dict"}
    assert {name for name in own - public if "_unstarve_" not in name} <= {
        "__abstractmethods__",
        "__getstate__",
        "__orig_bases__",
        "__parameters__",
        "_abc_impl",
        "_get_iterator",
        "_index_sampler",
        "check_worker_number_rationality",
    }
