"""One batch of the drop-in under way: what the sampler gave, and who loads which of its rows."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Batch:
    """One batch under way."""

    number: int  # of the iterator's batches
    #: The sampler gave it, whatever it is.
    is_drawn: bool = False
    #: What the data set would be asked for; where no batches are formed: one index.
    indices: list[Any] = field(default_factory=list)
    first: int = 0  # how many samples of the epoch come before it
    #: What the engine was asked for; None where it cannot know.
    files: array[int] | None = None
    #: What is raised in its turn, in place of the batch.
    failure: Exception | None = None
    #: What the engine has made of it: images and labels.
    loaded: tuple[Any, Any] | None = None
    #: The rows that Python loads,
    rows: set[int] = field(default_factory=set)
    #: and what it has loaded of them.
    samples: dict[int, Any] = field(default_factory=dict)
