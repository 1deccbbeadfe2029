"""`unstarve.DataLoader`: torch's DataLoader with the loading done natively where that is possible.

from unstarve import DataLoader             # in place of torch.utils.data's

loader = DataLoader(ImageFolder(root, transform), batch_size=256, shuffle=True, num_workers=8)
for images, labels in loader:               # the same tensors, the same order
    ...
print(loader.explain())                     # what runs natively, what stays Python, and why
"""

from __future__ import annotations

import warnings
from abc import ABCMeta
from collections.abc import Callable
from typing import Any

from torch.utils.data import dataloader as torch_loader
from typing_extensions import Protocol, TypeVar  # torch needs it as well

from unstarve.dataloader import accelerate_support
from unstarve.dataloader.epoch_iterators import (
    HAS_OWN_WORKERS,
    InProcesses,
    InThisProcess,
    InThreads,
    Progress,
    uses_threads,
)
from unstarve.dataloader.explain import explanation_of
from unstarve.engine.native_engine import NativeEngine
from unstarve.engine.native_iterator import NativeIterator
from unstarve.engine.opening_view import OpeningView, opens_images, reads_arrays
from unstarve.engine.partly_native import LoaderView, TaskMaker, file_list
from unstarve.errors import InvalidArgumentError
from unstarve.lowering.decision import Lowering, Part, lower
from unstarve.lowering.explanation import Explanation
from unstarve.order.stream import IndexStream
from unstarve.workers.places import places_to_resume

_T_co = TypeVar("_T_co", covariant=True, default=Any)

# Kept out of pickles and copies: they belong to one object in one process.
_OWN = (
    "_unstarve_kept_order",
    "_unstarve_engine",
    "_unstarve_explanation",
    "_unstarve_progress",
)


class _LoaderKind(type(Protocol)):  # type: ignore[misc]
    """Where a script's `from torch.utils.data import DataLoader` was exchanged, its
    `isinstance(x, DataLoader)` is still true of the loaders that others made with torch's class.
    Of subclasses it means what it always means.

    A class may have one metaclass only, and torch's loader has none: so that scripts can derive
    from it together with `abc.ABC` or a protocol, this one is theirs as well.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: Any, **options: Any) -> Any:
        # Not the protocols' own, which lets them derive from protocols alone.
        return ABCMeta.__new__(cls, name, bases, namespace, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is DataLoader:
            return type.__instancecheck__(torch_loader.DataLoader, instance)
        return ABCMeta.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if cls is DataLoader:
            return type.__subclasscheck__(torch_loader.DataLoader, subclass)
        return ABCMeta.__subclasscheck__(cls, subclass)


class DataLoader(torch_loader.DataLoader[_T_co], metaclass=_LoaderKind):  # type: ignore[misc]
    """`torch.utils.data.DataLoader` with the same arguments, meanings and errors.

    When an epoch begins, the loader looks at its data set. A torchvision `ImageFolder` (or
    `DatasetFolder`, `ImageNet`, a `Subset` of one) of JPEGs with transforms that the native engine
    knows is loaded by C++ threads: float32 or uint8 images of shape N x 3 x H x W and int64 labels
    of shape N, as the Python would have made them (pixels within 1 of 255 for the same crop). So is
    a `Dataset` of Hugging Face's `datasets`, in batches as its `collate_fn` makes them. A
    `collate_fn` that goes on from torch's `default_collate`, as MixUp's does, runs on the batches.
    Where only the first transforms are known, or where the collate function, the
    `target_transform` or some of the files are not, the engine does those first transforms in the
    processes that run the rest of the data set's Python. Everything else runs as the Python it is.
    `explain()` says which, and why.

    The order is torch's own: the sampler is asked as torch asks it, so the same `torch.manual_seed`
    or `generator` gives the same batches of indices. The random transforms of an epoch depend on
    one seed, drawn where torch draws the seed of its worker processes, and on each sample's index.

    What arguments mean when the native engine runs: `num_workers` is the most loading threads (0:
    as many as the process may use CPUs, in the four such loaders that were asked last),
    `prefetch_factor` bounds the batches loaded ahead, `timeout` bounds the wait for a batch in
    seconds. Batches come in order also with `in_order=False`; `multiprocessing_context` has nothing
    to do.

    Raises:
        ValueError, TypeError, ...: what torch raises for the same arguments.
        RuntimeError: a batch took longer than `timeout` seconds.
        Whatever the data set raises for a sample: a file that the native engine cannot read is
            given to the data set's own Python, whose answer, or exception, counts.
    """

    #: `to_device` may have the engine's batches lie in memory of its own choice.
    _unstarve_takes_memory = True

    def check_worker_number_rationality(self) -> None:
        """Ends torch's `__init__`: what depends on a complete loader comes after it."""
        super().check_worker_number_rationality()
        accelerate_support.remember(self)

    def explain(self) -> Explanation:
        """Which engine runs, what was lowered, what stays Python and why.

        Before the first epoch: what would happen now.
        """
        attributes = vars(self)
        if attributes.get("_unstarve_explanation") is None:
            self._unstarve_choose()
        explanation: Explanation = attributes["_unstarve_explanation"]
        engine: NativeEngine | None = attributes.get("_unstarve_engine")
        if explanation.engine != "native" or engine is None:
            return explanation
        return Explanation(
            explanation.engine,
            explanation.reason,
            explanation.parts,
            explanation.notes + engine.moves(),
        )

    def stats(self) -> dict[str, Any]:
        """Counters since the loader was made: the native engine's, or {} where it does not run.

        Names end in their units: `_ns` nanoseconds summed over threads, `bytes_` bytes.
        """
        engine: NativeEngine | None = vars(self).get("_unstarve_engine")
        return {} if engine is None else engine.stats()

    def set_epoch(self, epoch: int) -> None:
        """Numbers the epoch that the next `iter()` begins, and tells the samplers that ask for it
        (DistributedSampler). Not needed for a RandomSampler."""
        if self._unstarve_is_map_style:
            self._unstarve_order.set_epoch(epoch)
        elif hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the consumer is: plain values that JSON and pickle take, some hundred bytes, with a
        generator (the loader's or a sampler's) 3 kB more.

        Taken while an epoch runs, it continues behind the last batch that the loop got; taken when
        that was the epoch's last, with the next epoch.

        Of worker processes it holds what their data sets answer to `state_dict()`, and, where the
        data set has drawn from them, the global random generators: some kilobytes each.
        """
        self._unstarve_order.is_wanted = True
        return self._unstarve_noted_state()()

    def _unstarve_noted_state(self) -> Callable[[], dict[str, Any]]:
        """Notes what the state is now, which costs little, and makes it when it is wanted."""
        order = self._unstarve_order
        make_order = order.noted_state(lives_on=self.persistent_workers)
        if order.resumed is not None:
            return make_order
        progress: Progress | None = vars(self).get("_unstarve_progress")
        if progress is None and self.num_workers == 0:
            progress = Progress(0, None)
        make_workers: Callable[[], Any] = lambda: None  # noqa: E731
        if progress is not None:
            make_workers = progress.noted(
                self.dataset,
                is_over=order.is_over(),
                lives_on=self.num_workers == 0 or self.persistent_workers,
                is_wanted=order.is_wanted,
            )

        def make() -> dict[str, Any]:
            self._unstarve_order.is_wanted = True
            state = make_order()
            if not self._unstarve_is_map_style:
                state["iterable"] = True
            workers = make_workers()
            if workers is not None:
                state["workers"] = workers
            return state

        return make

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The next `iter()` goes on where `state_dict` was taken. `num_workers` may differ; with
        torch's BatchSampler so may the batch size, with DistributedSampler the world size.

        What workers draw goes on with the same `num_workers`, which an IterableDataset needs. Of
        one without `state_dict()`, what was read before is read again and passed over.

        Raises:
            InvalidArgumentError (a ValueError): not such a state, or one that this loader's
                samplers cannot continue.
        """
        stream = self._unstarve_order
        stream.load_state_dict(state_dict)
        is_iterable = bool(state_dict.get("iterable", False))
        if is_iterable == self._unstarve_is_map_style:
            stream.resumed = None
            raise InvalidArgumentError(
                "the state is of an IterableDataset, this loader's data set is none"
                if is_iterable
                else "the state is not of an IterableDataset, this loader's data set is one"
            )
        self._unstarve_workers_resumed()  # raises
        if is_iterable and state_dict["batches"] and "workers" not in state_dict:
            warnings.warn(
                "the place in this IterableDataset was not known to its loader: it begins anew",
                stacklevel=2,
            )
        self._iterator = None  # workers that live on are where they are

    @property
    def _unstarve_is_map_style(self) -> bool:
        return bool(self._dataset_kind == torch_loader._DatasetKind.Map)

    @property
    def _unstarve_order(self) -> IndexStream:
        """Follows the samplers that somebody put in place of the first ones, which torch refuses
        to do by assignment; like torch's, an iterator with persistent workers keeps its own."""
        stream: IndexStream | None = vars(self).get("_unstarve_kept_order")
        sampler = super()._index_sampler
        if stream is None:
            stream = self._unstarve_kept_order = IndexStream(sampler, self.generator)
        elif stream.sampler is not sampler and vars(self).get("_iterator") is None:
            stream = self._unstarve_kept_order = stream.with_sampler(sampler)
        stream.generator = self.generator
        return stream

    @property
    def _index_sampler(self) -> Any:
        """Where torch's iterators take the indices from."""
        return self._unstarve_order

    def __len__(self) -> int:
        """Batches per epoch, of the sampler that the loader has now."""
        return (
            len(super()._index_sampler) if self._unstarve_is_map_style else int(super().__len__())
        )

    def _get_iterator(self) -> Any:
        lowering = self._unstarve_choose()
        if self.num_workers == 0 and self.timeout != 0:
            return torch_loader._SingleProcessDataLoaderIter(self)  # which refuses the timeout
        if self._unstarve_explanation.engine == "native":
            assert lowering.work is not None
            engine: NativeEngine | None = vars(self).get("_unstarve_engine")
            if engine is None or not engine.can_do(lowering.work, self):
                engine = NativeEngine(lowering.work, self)
                self.__dict__["_unstarve_engine"] = engine
            self._unstarve_progress = None
            return NativeIterator(self, engine, lowering.work)
        self.__dict__["_unstarve_engine"] = None
        view: Any = self
        tasks = None
        if self._unstarve_explanation.engine == "partly":
            assert lowering.partly is not None
            view = LoaderView(self, lowering.dataset, file_list(lowering.partly.samples))
            tasks = TaskMaker(lowering.partly, self._auto_collation)
        order = self._unstarve_order
        resumed = order.resumed
        self._unstarve_progress = progress = Progress(
            self.num_workers,
            self._unstarve_workers_resumed(),
            is_within_epoch=resumed is not None and resumed["draw_seed"] is not None,
            always=order.is_wanted,
        )
        if self.num_workers == 0:
            return InThisProcess(view, tasks, progress)
        self.check_worker_number_rationality()
        if uses_threads(self):
            return InThreads(view, tasks, progress)
        if view is self and HAS_OWN_WORKERS and (opens_images() or reads_arrays()):
            view = OpeningView(self)
        return InProcesses(view, tasks, progress)

    def _unstarve_workers_resumed(self) -> Any:
        """What the state that was loaded, if one was, says of each worker."""
        resumed = self._unstarve_order.resumed or {}
        return places_to_resume(
            resumed.get("workers"), self.num_workers, iterable=not self._unstarve_is_map_style
        )

    def _unstarve_choose(self) -> Lowering:
        """Decides anew, since the data set's transform may have been exchanged between epochs."""
        if self._unstarve_is_map_style:
            lowering = lower(self)
        else:
            stream = Part("data set", False, "an IterableDataset")
            lowering = Lowering(None, [stream], obstacle="data set: an IterableDataset")
        self._unstarve_explanation = explanation_of(self, lowering)
        return lowering

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _OWN}


__all__ = ["DataLoader"]
