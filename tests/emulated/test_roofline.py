"""`unstarve roofline` of several GPUs: what they reach together."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from emulation import PYTHON, unstarve

# Of the a100's profile: between two GPUs, each way; and its data sheet.
LINK_BYTES_PER_S = 240e9
FLOAT32_FLOPS = 19.5e12
GPUS = 2


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is measured of two GPUs."""
    cache = tmp_path_factory.mktemp("cache")
    done = unstarve(
        *("roofline", "--emulate", "a100", "--gpus", str(GPUS), "--only", "gpu", "--json"),
        *("--seconds", "1", "--python", PYTHON),
        env=dict(os.environ, XDG_CACHE_HOME=str(cache), TMPDIR=str(cache)),
    )
    assert done.returncode == 0, done.stderr
    assert not list(Path(cache).glob("unstarve-roofline-*"))  # by which the ranks met
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def roofs_of(document: dict[str, Any], group: str) -> dict[str, dict[str, Any]]:
    """By what follows the group in their names."""
    return {
        roof["name"].removeprefix(group): roof
        for roof in document["roofs"]
        if roof["name"].startswith(group)
    }


def test_collectives_reach_what_the_link_allows(document: dict[str, Any]) -> None:
    roofs = roofs_of(document, "gpu.nccl.")
    kinds = ("all_reduce", "all_gather", "reduce_scatter", "send_recv")
    sizes = ("1_mib", "16_mib", "256_mib")
    assert set(roofs) == {f"{kind}.{size}" for kind in kinds for size in sizes} | {
        "all_reduce.latency"
    }
    for kind in kinds:
        assert 0.2 * LINK_BYTES_PER_S < roofs[f"{kind}.256_mib"]["value"] < 1.01 * LINK_BYTES_PER_S
    latency = roofs["all_reduce.latency"]
    assert latency["unit"] == "s"
    assert 1e-6 < latency["value"] <= latency["conditions"]["median"] < 0.1


def test_their_conditions_say_what_was_measured(document: dict[str, Any]) -> None:
    for roof in roofs_of(document, "gpu.nccl.").values():
        conditions = roof["conditions"]
        assert conditions["modelled"] is True
        assert conditions["gpus"] == GPUS
        assert conditions["nccl"][0].isdigit()
        assert {"torch", "driver", "power_cap_w", "sm_clock_mhz", "temperature_after_c"} <= set(
            conditions
        )


def test_copies_between_gpus_both_ways(document: dict[str, Any]) -> None:
    roofs = roofs_of(document, "gpu.peers.")
    assert set(roofs) == {
        f"{way}.{size}" for way in ("0_to_1", "1_to_0") for size in ("1_mib", "256_mib")
    }
    for way in ("0_to_1", "1_to_0"):
        large = roofs[f"{way}.256_mib"]
        assert large["conditions"]["peer_access"] is True
        assert 0.2 * LINK_BYTES_PER_S < large["value"] < 1.01 * LINK_BYTES_PER_S


def test_products_are_timed_on_the_gpu_that_multiplies(document: dict[str, Any]) -> None:
    for gpu in range(GPUS):
        product = roofs_of(document, f"gpu.{gpu}.gemm.")["float32"]
        assert 0.2 * FLOAT32_FLOPS < product["value"] < FLOAT32_FLOPS
