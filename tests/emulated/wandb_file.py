"""Reads what wandb keeps of a run that is offline: records in a file of 32 KiB blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

BLOCK_BYTES = 32768
FILE_HEADER_BYTES = 7
RECORD_HEADER = struct.Struct("<IHB")  # checksum, bytes, part of a record
WHOLE, LAST = 1, 4


def records(data: bytes) -> Iterator[bytes]:
    at, record = FILE_HEADER_BYTES, b""
    while at + RECORD_HEADER.size <= len(data):
        room = BLOCK_BYTES - at % BLOCK_BYTES
        if room < RECORD_HEADER.size:
            at += room
            continue
        _checksum, size, part = RECORD_HEADER.unpack_from(data, at)
        record += data[at + RECORD_HEADER.size : at + RECORD_HEADER.size + size]
        at += RECORD_HEADER.size + size
        if part in (WHOLE, LAST):
            yield record
            record = b""


def system_metrics(folder: Path) -> tuple[dict[str, list[float]], str]:
    """The samples of each metric of the only run below `folder`, and the GPU's name."""
    messages: Any = import_module("wandb.proto.wandb_internal_pb2")
    (file,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    metrics: dict[str, list[float]] = {}
    gpu = ""
    for body in records(file.read_bytes()):
        record = messages.Record()
        record.ParseFromString(body)
        kind = record.WhichOneof("record_type")
        if kind == "environment":
            gpu = record.environment.gpu_type or gpu
        if kind == "stats":
            for item in record.stats.item:
                metrics.setdefault(item.key, []).append(float(item.value_json))
    return metrics, gpu
