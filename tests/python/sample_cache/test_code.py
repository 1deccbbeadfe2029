"""What a function's code uses that gives another result each time, and what does not."""

from __future__ import annotations

import datetime
import os
import random
import secrets
import threading
import time
import uuid
from time import perf_counter as tick
from typing import Any

import pytest
from unstarve.sample_cache.code import Reading


def imports_there(x: Any) -> Any:
    import time as clock

    return clock.monotonic()


def imports_a_part_there(x: Any) -> Any:
    from time import time_ns as now

    return now()


def within_a_loop(x: Any) -> Any:
    return [time.time() for _ in x]


def within_a_function(x: Any) -> Any:
    return (lambda: os.urandom(1))()


class Own:
    def of_the_class_above(self) -> Any:
        return super().uuid4()  # type: ignore[misc]


NOT_THE_SAME: list[Any] = [
    *(imports_there, imports_a_part_there, within_a_loop, within_a_function),
    Own.of_the_class_above,
    lambda x: time.time(),
    lambda x: datetime.datetime.now(),
    lambda x: os.getpid() if x else 0,
    lambda x: uuid.uuid4(),
    lambda x: secrets.randbelow(4),
    lambda x: id(x) % 8,
    lambda x: hash(x) % 8,
    lambda x: tick(),
    lambda x: os.environ.get("A"),
    lambda x: os.environ["A"],
    lambda x: threading.get_ident(),
    lambda x: random.Random(3),
    lambda x: x.getpid(),
]
THE_SAME: list[Any] = [
    lambda x: x.read_text(),
    lambda x: [y * 2 for y in x] + sorted(x),
    lambda x: os.path.join(x, "a"),  # noqa: PTH118
    lambda x: [time.sleep, x.items()],
    lambda x: datetime.datetime(2020, 1, 1),
    lambda x: x.identity(id=3, time=4),
    lambda x: random.uniform(0, x),  # who draws is noticed while it happens
]


@pytest.mark.parametrize("number", range(len(NOT_THE_SAME)))
def test_what_is_not_the_same_each_time_is_found(number: int) -> None:
    reading = Reading(NOT_THE_SAME[number])
    assert "test_code.py:" in reading.obstacle


@pytest.mark.parametrize("number", range(len(THE_SAME)))
def test_other_code_is_let_be(number: int) -> None:
    assert Reading(THE_SAME[number]).obstacle == ""
