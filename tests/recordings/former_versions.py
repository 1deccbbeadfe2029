#!/usr/bin/env python3
"""Makes tests/data/former_runs: one recorded run as two former versions of unstarve kept it.

The tables are those that these versions made; the rows are the recording's, as far as the tables
take them. The folders are kept, so that a later version cannot change what a former one wrote.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
RECORDING = DATA / "runs/starved/run.sqlite"

PROCESS = {
    "first": "pid INTEGER PRIMARY KEY, ppid INTEGER, role TEXT, started_ns INTEGER, "
    "ended_ns INTEGER, text TEXT",
    "before_windows": "pid INTEGER, ppid INTEGER, role TEXT, started_ns INTEGER, "
    "ended_ns INTEGER, text TEXT, born_ns INTEGER, PRIMARY KEY (pid, born_ns)",
}
TABLES = """
CREATE TABLE run (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE step (pid INTEGER, tid INTEGER, idx INTEGER, start_ns INTEGER, end_ns INTEGER,
                   samples INTEGER, source INTEGER);
CREATE TABLE loader (pid INTEGER, loader_id INTEGER, num_workers INTEGER, prefetch_factor INTEGER,
                     batch_size INTEGER, flags INTEGER, made_ns INTEGER);
CREATE TABLE wait (pid INTEGER, tid INTEGER, loader_id INTEGER, batch INTEGER, start_ns INTEGER,
                   end_ns INTEGER, ready_batches INTEGER, samples INTEGER, ended INTEGER);
CREATE TABLE fetch (pid INTEGER, tid INTEGER, loader_id INTEGER, start_ns INTEGER, end_ns INTEGER,
                    samples INTEGER, cpu_ns INTEGER, decode_ns INTEGER, collate_ns INTEGER);
CREATE TABLE sync (pid INTEGER, tid INTEGER, start_ns INTEGER, end_ns INTEGER);
CREATE TABLE device (idx INTEGER PRIMARY KEY, name TEXT, emulated INTEGER,
                     total_memory_bytes INTEGER, text TEXT);
CREATE TABLE ring (file TEXT PRIMARY KEY, position INTEGER, lost INTEGER, damaged INTEGER);
CREATE TABLE metric (id INTEGER PRIMARY KEY, name TEXT, unit TEXT, source TEXT, subject TEXT,
                     description TEXT);
CREATE TABLE sample (t_ns INTEGER, metric_id INTEGER, value REAL, absent TEXT);
CREATE TABLE finding (idx INTEGER, cause TEXT, detail TEXT, share REAL, confidence TEXT,
                      evidence TEXT, remedies TEXT);
CREATE TABLE prediction (remedy TEXT, predicted_speedup REAL, low REAL, high REAL,
                         measured_speedup REAL, measured_low REAL, measured_high REAL,
                         held INTEGER);
"""
STAGE = (
    "CREATE TABLE stage (pid INTEGER, loader_id INTEGER, stage INTEGER, start_ns INTEGER, "
    "end_ns INTEGER, spent_ns INTEGER, amount INTEGER, threads INTEGER)"
)


def columns_of(store: sqlite3.Connection, schema: str, table: str) -> list[str]:
    return [row[1] for row in store.execute(f"PRAGMA {schema}.table_info({table})")]


def make(version: str) -> None:
    folder = DATA / "former_runs" / version
    folder.mkdir(parents=True)
    store = sqlite3.connect(folder / "run.sqlite")
    store.executescript(f"CREATE TABLE process ({PROCESS[version]});{TABLES}")
    if version != "first":
        store.execute(STAGE)
    store.execute("ATTACH ? AS recorded", (f"{RECORDING}",))
    tables = [
        row[0] for row in store.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")
    ]
    for table in tables:
        names = ", ".join(columns_of(store, "main", table))
        store.execute(f"INSERT INTO main.{table} ({names}) SELECT {names} FROM recorded.{table}")
    store.commit()
    store.execute("DETACH recorded")
    store.execute("VACUUM")
    store.close()


def main() -> None:
    for version in PROCESS:
        make(version)


if __name__ == "__main__":
    main()
