"""Recordings as damage, other versions and malice would leave them: each function changes one form.

`draw` decides everything, so that a mutation comes again by its number.
"""

from __future__ import annotations

import ctypes
import gzip
import json
import re
import sqlite3
import struct
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random

#: Takes over the title of a terminal; the same by a C1 control, and in a link.
ESCAPES = (
    "\x1b]0;taken over\x07",
    "\x9b31mred",
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x08\r",
)
DEEP = "[" * 5000 + "]" * 5000
TEXTS = (
    *ESCAPES,
    "",
    "\0",
    "x" * 70_000,
    "../" * 40,
    "{}{0}%s%n",
    DEEP,
    "\u202e\u2066",
    "NaN",
    "-1",
)
NUMBERS = (
    *(0, -1, 1, 2**31, -(2**31) - 1, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**64),
    *(0.5, -0.0, 1e-300, 1e18, 9.3e18, 1e19, 1e300, -1e300),
)
_BIGGEST_INTEGER = 2**63 - 1
_MOST_ROWS = 4000
_ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select {} from n"


def odd_text(draw: Random) -> str:
    return draw.choice(TEXTS)


def odd_number(draw: Random, near: float = 0) -> int | float:
    """One of the edges of the types that a reader has, or one that is some orders away."""
    if draw.random() < 0.7:
        return draw.choice(NUMBERS)
    return near * 10.0 ** draw.randint(-9, 9) * draw.choice((1, -1))


def change_bytes(data: bytes, draw: Random) -> bytes:
    """Of any file: a cut, bits that flipped, a piece that is missing or there twice."""
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        size = len(out)
        at = draw.randrange(size + 1)
        length = min(draw.choice((1, 2, 8, 64, 4096)), size - at)
        how = draw.randrange(6)
        if how == 0:
            del out[at:]
        elif how == 1:
            del out[at : at + length]
        elif how == 2:
            out[at:at] = out[at : at + length] * draw.choice((1, 3))
        elif how == 3:
            out[at : at + 8] = struct.pack("<q", draw.choice((0, -1, 2**31, 2**63 - 1, -(2**63))))
        elif how == 4:
            out[at:at] = odd_text(draw)[:5000].encode()
        elif at < size:
            out[at] ^= 1 << draw.randrange(8)
    return bytes(out)


def change_packed(data: bytes, draw: Random) -> bytes:
    """Of JSON under gzip: what it says, or its bytes."""
    if draw.random() < 0.8:
        with suppress(EOFError, gzip.BadGzipFile, zlib.error):
            return gzip.compress(change_json(gzip.decompress(data), draw), 1, mtime=0)
    return change_bytes(data, draw)


_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?')


def change_json(data: bytes, draw: Random) -> bytes:
    """Other numbers and texts in what stays JSON for the most part."""
    tokens = list(_JSON_TOKEN.finditer(data))
    if not tokens or draw.random() < 0.1:
        return change_bytes(data, draw)
    taken = draw.sample(tokens, min(len(tokens), draw.choice((1, 1, 2, 5, 40))))
    out = data
    for token in sorted(taken, key=lambda one: -one.start()):
        out = out[: token.start()] + _other_value(token[0], draw) + out[token.end() :]
    return out


def _other_value(value: bytes, draw: Random) -> bytes:
    if draw.random() < 0.1:
        return draw.choice((b"null", b"{}", b"[]", b"true", DEEP.encode()))
    is_text = value.startswith(b'"')
    if is_text == (draw.random() < 0.9):
        text = odd_text(draw)
        escaped = json.dumps(text, ensure_ascii=draw.random() < 0.5)
        # Some write such bytes as they are.
        return (f'"{text}"' if draw.random() < 0.2 else escaped).encode()
    with suppress(ValueError, OverflowError):
        return json.dumps(odd_number(draw, float(value.strip(b'"')))).encode()
    return json.dumps(odd_number(draw)).encode()


def change_lines(data: bytes, draw: Random) -> bytes:
    """Of a log or a journal: fields of some lines; lines again, or in another order."""
    lines = data.splitlines(keepends=True) or [b""]
    for _ in range(draw.choice((1, 3, 10))):
        at = draw.randrange(len(lines))
        how = draw.randrange(4)
        if how == 0:
            lines[at:at] = [lines[at]] * draw.choice((1, 500))
        elif how == 1:
            draw.shuffle(lines)
        elif how == 2:
            fields = re.split(rb"([,;\s]+)", lines[at])
            other = odd_text(draw) if draw.random() < 0.5 else str(odd_number(draw))
            fields[draw.randrange(len(fields))] = other[:5000].encode()
            lines[at] = b"".join(fields)
        else:
            lines[at] = change_json(lines[at], draw)
    return b"".join(lines)


def change_store(path: Path, draw: Random) -> None:
    """Of a file of SQLite: what it says, or, now and then, its bytes."""
    if draw.random() < 0.1:
        path.write_bytes(change_bytes(path.read_bytes(), draw))
        return
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.text_factory = bytes
        store.execute("begin")
        for _ in range(draw.choice((1, 1, 2, 4))):
            # What is damaged already may have no table, no column, or names of no letters.
            with suppress(sqlite3.Error, LookupError, ValueError):
                draw.choices(_STORE_CHANGES, (6, 3, 3, 2, 2, 1, 1, 1))[0](store, draw)
        store.execute("commit")


def _a_table(store: sqlite3.Connection, draw: Random) -> str:
    names = store.execute("select name from sqlite_master where type = 'table' order by name")
    tables: list[str] = [row[0].decode() for row in names.fetchall()]
    full = [name for name in tables if store.execute(f'select 1 from "{name}"').fetchone()]
    return draw.choice(full or tables or ["none"])


def _a_column(store: sqlite3.Connection, table: str, draw: Random) -> str:
    columns = store.execute("select name from pragma_table_info(?)", (table,)).fetchall()
    name: bytes = draw.choice(columns)[0]
    return name.decode()


def _odd_value(draw: Random, near: object) -> object:
    how = draw.random()
    if how < 0.15:
        return draw.choice((None, b"\xff\xfe\x00\x1b[31m"))
    if isinstance(near, bytes) and near[:1] in (b"{", b"[") and how < 0.8:
        return change_json(near, draw).decode(errors="surrogateescape").encode(errors="replace")
    if isinstance(near, bytes) == (how < 0.9):
        return odd_text(draw)
    number = odd_number(draw, near if isinstance(near, (int, float)) else 0)
    return float(number) if abs(number) > _BIGGEST_INTEGER else number


def _change_cells(store: sqlite3.Connection, draw: Random) -> None:
    table = _a_table(store, draw)
    column = _a_column(store, table, draw)
    rows = store.execute(f'select rowid, "{column}" from "{table}" limit 500').fetchall()
    for rowid, near in draw.sample(rows, min(len(rows), draw.choice((1, 1, 3, 20)))):
        value = _odd_value(draw, near)
        store.execute(f'update "{table}" set "{column}" = ? where rowid = ?', (value, rowid))


def _change_run(store: sqlite3.Connection, draw: Random) -> None:
    """The table of keys has no row numbers, and may be an endless view of numbers by now."""
    rows = store.execute("select key, value from run limit 500").fetchall()
    key, near = draw.choice(rows)
    if not isinstance(key, bytes):
        return
    keys = (key.decode(), "mig", "gpu_uuids", "exit_signal", "stage", "attached_pid", "hook")
    value = _odd_value(draw, near)
    store.execute("insert or replace into run values (?, ?)", (draw.choice(keys), value))


def _change_column(store: sqlite3.Connection, draw: Random) -> None:
    table = _a_table(store, draw)
    column = _a_column(store, table, draw)
    [[near]] = store.execute(f'select "{column}" from "{table}" limit 1').fetchall()
    if isinstance(near, (int, float)) and draw.random() < 0.5:
        by = draw.choice((-1, 0, 1000, 1e-6, 2.5))
        store.execute(f'update "{table}" set "{column}" = "{column}" * ?', (by,))
    else:
        store.execute(f'update "{table}" set "{column}" = ?', (_odd_value(draw, near),))


def _repeat_rows(store: sqlite3.Connection, draw: Random) -> None:
    table = _a_table(store, draw)
    for _ in range(draw.choice((1, 4))):
        copy = f'insert or ignore into "{table}" select * from "{table}" limit {_MOST_ROWS}'
        store.execute(copy)


def _drop_rows(store: sqlite3.Connection, draw: Random) -> None:
    table = _a_table(store, draw)
    store.execute(f'delete from "{table}" where rowid % ? > 0', (draw.choice((2, 7, 2**40)),))


def _swap_columns(store: sqlite3.Connection, draw: Random) -> None:
    table = _a_table(store, draw)
    one, other = (_a_column(store, table, draw) for _ in range(2))
    store.execute(f'update "{table}" set "{one}" = "{other}", "{other}" = "{one}"')


def _change_schema(store: sqlite3.Connection, draw: Random) -> None:
    table = _a_table(store, draw)
    columns = store.execute("select name from pragma_table_info(?)", (table,)).fetchall()
    how = draw.randrange(4)
    if how == 0:
        store.execute(f'alter table "{table}" drop column "{_a_column(store, table, draw)}"')
    elif how == 1:
        store.execute(f'alter table "{table}" rename column "{_a_column(store, table, draw)}" to x')
    elif how == 2:
        store.execute(f'drop table "{table}"')
    else:
        numbered = ", ".join(f'i as "{name.decode()}"' for (name,) in columns)
        store.execute(f'alter table "{table}" rename to kept')
        store.execute(f'create view "{table}" as {_ENDLESS.format(numbered)}')


def _thin_out(store: sqlite3.Connection, draw: Random) -> None:
    """As a long run's store is, with numbers that none would have."""
    plan = {key: odd_number(draw, 10) for key in ("origin_ns", "slot_ns", "level")}
    plan |= {"level": draw.choice((1, 3, plan["level"]))}
    store.execute("insert or replace into run values ('thinning', ?)", (json.dumps(plan),))
    columns = "what, pid, tid, subject, from_ns, to_ns, rows, ns, wait_ns, samples, sampled_ns, "
    store.execute(f"create table if not exists thinned ({columns} sampled_rows, value)")
    pid = store.execute("select pid from process").fetchone()
    for what in ("step", "batch", "wait", "fetch", "sync", "stage", "sample"):
        odd = [_odd_value(draw, 1) if draw.random() < 0.3 else 10**9 for _ in range(9)]
        subject = draw.choice(("", "0", "0:1", "1", odd_text(draw)))
        row = (what, pid[0] if pid else 0, 0, subject, *odd)
        store.execute(f"insert into thinned values ({', '.join('?' * 13)})", row)


_STORE_CHANGES: tuple[Callable[[sqlite3.Connection, Random], None], ...] = (
    _change_cells,
    _change_column,
    _change_run,
    _repeat_rows,
    _drop_rows,
    _swap_columns,
    _change_schema,
    _thin_out,
)

_RING_TEXT_AT = 64
_RING_HEADER_BYTES = 4096


def change_ring(data: bytes, draw: Random) -> bytes:
    """Of a ring: its bytes, the writer's words, or whole fields of its header and records."""
    how = draw.random()
    if how < 0.2 or len(data) < _RING_HEADER_BYTES:
        return change_bytes(data, draw)
    if how < 0.4:
        words = data[_RING_TEXT_AT:_RING_HEADER_BYTES].rstrip(b"\0")
        other = change_json(words, draw)[: _RING_HEADER_BYTES - _RING_TEXT_AT]
        header = data[:56] + struct.pack("<II", len(other), 0) + other
        return header.ljust(_RING_HEADER_BYTES, b"\0") + data[_RING_HEADER_BYTES:]
    out = bytearray(data)
    for _ in range(draw.choice((1, 4, 40))):
        in_header = len(data) == _RING_HEADER_BYTES or draw.random() < 0.2
        first, last = (1, 8) if in_header else (_RING_HEADER_BYTES // 8, len(data) // 8)
        near = draw.choice((0, -1, 1, 7, 2**31, 2**62, 2**63 - 1, -(2**63), draw.getrandbits(62)))
        struct.pack_into("<q", out, 8 * draw.randrange(first, last), near)
    return bytes(out)


_CHUNK = struct.Struct("<4sIIIQ")  # magic, raw bytes, stored bytes, records, checksum
_EVENTS_MAGIC_BYTES = 8
_EVENT_BYTES = 64
_DEVICE_AT = 52  # in an event: its device, type, kind and stream


def change_events(data: bytes, draw: Random) -> bytes:
    """Of a file of device events: its bytes, or a chunk whose checksum is right again."""
    if draw.random() < 0.3 or len(data) < _EVENTS_MAGIC_BYTES + _CHUNK.size:
        return change_bytes(data, draw)
    chunks = []
    at = _EVENTS_MAGIC_BYTES
    while at + _CHUNK.size <= len(data):
        chunks.append(at)
        at += _CHUNK.size + _CHUNK.unpack_from(data, at)[2]
    at = draw.choice(chunks)
    magic, raw_bytes, stored_bytes, records, _ = _CHUNK.unpack_from(data, at)
    end = at + _CHUNK.size + stored_bytes
    raw = _unpack(data[at + _CHUNK.size : end], raw_bytes)
    times = draw.choice((1, 1, 1, 50))
    if draw.random() < 0.1:
        raw, records = _flood(bytes(raw), records, draw)
    else:
        _change_chunk(raw, records, draw)
        records = draw.choice((records, records, records, 0, 2**32 - 1))
    stored = _pack(bytes(raw))
    header = _CHUNK.pack(magic, len(raw), len(stored), records, _checksum(stored))
    return data[:at] + (header + stored) * times + data[end:]


def _change_chunk(raw: bytearray, records: int, draw: Random) -> None:
    for _ in range(draw.choice((1, 4, 40))):
        # Of the events, which lie behind names and marks, whole fields.
        field = len(raw) - 8 * draw.randrange(1, max(2, records * _EVENT_BYTES // 8))
        raw[field : field + 8] = struct.pack("<q", draw.choice((0, -1, 1, 2**62, -(2**63))))
    if draw.random() < 0.3:
        raw[:] = change_bytes(bytes(raw), draw)


def _flood(raw: bytes, records: int, draw: Random) -> tuple[bytearray, int]:
    """Few bytes that unpack to many events, names or marks, or to events of many devices."""
    events = raw[len(raw) - _EVENT_BYTES * records :]
    how = draw.randrange(4)
    if how == 0:
        times = (32 << 20) // max(_EVENT_BYTES, len(events))
        return bytearray(raw + events * times), records * (1 + times)
    if how == 1:
        names = 4_000_000
        return bytearray(struct.pack("<I", names) + bytes(4 * names) + bytes(4)), 0
    if how == 2:
        times = 60_000 // max(1, records)
        spread = bytearray(raw + events * times)
        count = records * (1 + times)
        for event in range(1, count + 1):
            at = len(spread) - _EVENT_BYTES * event + _DEVICE_AT
            struct.pack_into("<hBBi", spread, at, event % 32_768, 1, event % 3, event)
        return spread, count
    marks = 500_000
    each = (struct.pack("<II3q", 4, number, 1, 0, 0) for number in range(marks))
    return bytearray(struct.pack("<II", 0, marks) + b"".join(each)), 0


def _zstd() -> ctypes.CDLL:
    library = ctypes.CDLL("libzstd.so.1")
    for function in (library.ZSTD_compress, library.ZSTD_decompress, library.ZSTD_compressBound):
        function.restype = ctypes.c_size_t
    return library


def _unpack(stored: bytes, size: int) -> bytearray:
    out = ctypes.create_string_buffer(size)
    _zstd().ZSTD_decompress(out, ctypes.c_size_t(size), stored, ctypes.c_size_t(len(stored)))
    return bytearray(out.raw)


def _pack(raw: bytes) -> bytes:
    library = _zstd()
    room = library.ZSTD_compressBound(ctypes.c_size_t(len(raw)))
    out = ctypes.create_string_buffer(room)
    size = library.ZSTD_compress(out, ctypes.c_size_t(room), raw, ctypes.c_size_t(len(raw)), 1)
    return out.raw[:size]


def _checksum(stored: bytes) -> int:
    xxhash = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxhash.restype = ctypes.c_uint64
    return int(xxhash(stored, ctypes.c_size_t(len(stored))))
