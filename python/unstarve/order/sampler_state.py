"""What decides the order that a torch sampler gives, as small plain values.

Samplers differ in where their randomness comes from: a seed drawn once per epoch, a generator, a
state of their own, torch's default generator, or nothing at all. For each kind there is a way to
write it down and to get the same order again.
"""

from __future__ import annotations

import base64
import contextlib
import zlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler
from torch.utils.data.dataloader import _InfiniteConstantSampler
from torch.utils.data.distributed import DistributedSampler

from unstarve.errors import InvalidArgumentError
from unstarve.own_state import Questions, can_say

# Samplers wrap samplers; one that wraps itself must not hang us.
_DEEPEST = 8


def chain(sampler: Any) -> Iterator[Any]:
    """The sampler, the one that it draws from, and so on."""
    for _ in range(_DEEPEST):
        if sampler is None:
            return
        yield sampler
        # Not by their truth: an empty sampler is one, and an array of indices has none.
        inner = getattr(sampler, "sampler", None)
        sampler = getattr(sampler, "batch_sampler", None) if inner is None else inner


def stateful(sampler: Any) -> Any:
    """The outermost sampler that can save and restore itself, or None."""
    return next((one for one in chain(sampler) if can_say(one)), None)


def generators(sampler: Any, generator: Any) -> list[Any]:
    """All generators that decide the order, each once."""
    found = [generator] if isinstance(generator, torch.Generator) else []
    for one in chain(sampler):
        own = getattr(one, "generator", None)
        if isinstance(own, torch.Generator) and all(own is not other for other in found):
            found.append(own)
    return found


def seeds_itself(sampler: Any) -> bool:
    """A RandomSampler that draws one seed per epoch from torch's default generator."""
    return type(sampler) is RandomSampler and sampler.generator is None


def needs_nothing(sampler: Any) -> bool:
    """Its order follows from what it is made of (and from set_epoch)."""
    if type(sampler) is BatchSampler:
        return needs_nothing(sampler.sampler)
    return type(sampler) in (
        SequentialSampler,
        DistributedSampler,
        list,
        tuple,
        range,
        _InfiniteConstantSampler,  # of an IterableDataset
    )


def seeded(sampler: RandomSampler, seed: int) -> RandomSampler:
    """The same sampler with the seed that it would draw for one epoch."""
    generator = torch.Generator()
    generator.manual_seed(seed)
    return RandomSampler(
        sampler.data_source, sampler.replacement, sampler._num_samples, generator=generator
    )


def capture(
    sampler: Any, generator: Any, questions: Questions, *, within_epoch: bool
) -> dict[str, Any]:
    """What is known of an order before its first draw; `questions` are for the sampler's own."""
    start: dict[str, Any] = {}
    own = stateful(sampler)
    if own is not None:
        said = questions.ask(own.state_dict, at_any_cost=True)
        if not questions.why_not:
            start["sampler"] = said
    for one in chain(sampler):
        # Between epochs the script calls set_epoch itself.
        if within_epoch and isinstance(one, DistributedSampler):
            start["sampler_epoch"] = one.epoch
    found = generators(sampler, generator)
    if found:
        start["generators"] = pack_all(found)
    return start


def restore(start: dict[str, Any], sampler: Any, generator: Any) -> None:
    """Undoes what happened since `capture`."""
    own = stateful(sampler)
    if own is not None and "sampler" in start:
        own.load_state_dict(start["sampler"])
    for one in chain(sampler):
        if isinstance(one, DistributedSampler) and "sampler_epoch" in start:
            one.set_epoch(start["sampler_epoch"])
    set_generators(generators(sampler, generator), start.get("generators", []))


def set_generators(found: list[Any], saved: list[str]) -> None:
    """As they were when `saved` was taken of them."""
    if len(saved) != len(found):
        raise InvalidArgumentError(
            f"the state was saved with {len(saved)} generators, this loader has {len(found)}: make "
            "it with the same sampler and generator"
        )
    for one, state in zip(found, saved, strict=True):
        one.set_state(unpack(state))


@contextlib.contextmanager
def default_generator_at(state: Any) -> Iterator[None]:
    """torch's default generator is in `state` within; nobody else notices."""
    outside = torch.get_rng_state()
    torch.set_rng_state(state)
    try:
        yield
    finally:
        torch.set_rng_state(outside)


def drawing_from(state: Any, items: Iterator[Any]) -> Iterator[Any]:
    """While `items` are drawn, torch's default generator is in `state`; nobody else notices."""
    while True:
        outside = torch.get_rng_state()
        torch.set_rng_state(state)
        try:
            item = next(items)
        except StopIteration:
            return
        finally:
            state = torch.get_rng_state()
            torch.set_rng_state(outside)
        yield item


def pack_all(found: list[Any]) -> list[str]:
    """The states of generators."""
    return [pack(one.get_state()) for one in found]


def pack(state: Any) -> str:
    """A generator's state as text: half of its 5 kB are zeros."""
    return base64.b85encode(zlib.compress(state.numpy().tobytes(), 9)).decode()


def unpack(text: str) -> Any:
    """The state again."""
    raw = bytearray(zlib.decompress(base64.b85decode(text)))
    return torch.frombuffer(raw, dtype=torch.uint8).clone()
