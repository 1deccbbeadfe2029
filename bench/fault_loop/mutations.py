"""Bytes that a disk, a network or a careless tool may have made of others."""

from __future__ import annotations

import random
from collections.abc import Callable

# Sectors, the alignment of shards, and what no layout knows of.
BLOCK_BYTES = (1, 7, 64, 512, 4096)


def _range(data: bytearray, draw: random.Random) -> tuple[int, int]:
    size = min(draw.choice(BLOCK_BYTES), len(data))
    begin = draw.randrange(len(data) - size + 1)
    return begin // size * size, size


def flip_bits(data: bytearray, draw: random.Random) -> None:
    for _ in range(draw.choice((1, 1, 2, 8))):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def overwrite(data: bytearray, draw: random.Random) -> None:
    begin, size = _range(data, draw)
    data[begin : begin + size] = draw.choice((bytes(size), b"\xff" * size, draw.randbytes(size)))


def cut(data: bytearray, draw: random.Random) -> None:
    del data[draw.randrange(len(data)) :]


def cut_out(data: bytearray, draw: random.Random) -> None:
    begin, size = _range(data, draw)
    del data[begin : begin + size]


def swap_blocks(data: bytearray, draw: random.Random) -> None:
    begin, size = _range(data, draw)
    other = draw.randrange(len(data) // size) * size
    first, second = data[begin : begin + size], data[other : other + size]
    data[begin : begin + size], data[other : other + size] = second, first


def copy_block(data: bytearray, draw: random.Random) -> None:
    begin, size = _range(data, draw)
    other = draw.randrange(len(data) // size) * size
    data[begin : begin + size] = data[other : other + size]


def extend(data: bytearray, draw: random.Random) -> None:
    size = draw.choice((1, 64, 512, 5000))
    data += draw.choice((bytes(size), draw.randbytes(size), bytes(data[:size])))


MUTATIONS: tuple[Callable[[bytearray, random.Random], None], ...] = (
    flip_bits, flip_bits, overwrite, cut, cut_out, swap_blocks, copy_block, extend,
)  # fmt: skip


def mutate(original: bytes, draw: random.Random) -> tuple[bytes, str]:
    """Other bytes, and what was done to them."""
    while True:
        data = bytearray(original)
        mutation = draw.choice(MUTATIONS)
        mutation(data, draw)
        if bytes(data) != original:
            return bytes(data), mutation.__name__


def anything(file: bytes, draw: random.Random) -> bytes:
    return mutate(file, draw)[0]


def swap_entries(table: bytes, begin: int, shape: tuple[int, int], draw: random.Random) -> bytes:
    """Two entries of a table at `begin`, each sound in itself, in the other's place. The shape is
    how many entries there are, and the bytes of one."""
    count, size = shape
    one, other = (begin + index * size for index in draw.sample(range(count), 2))
    data = bytearray(table)
    data[one : one + size] = table[other : other + size]
    data[other : other + size] = table[one : one + size]
    return bytes(data)
