"""Long vectors in few numbers."""

from __future__ import annotations

from typing import Any

#: For all vectors the same, so that sketches of two runs can be compared.
_SEED = 20260
_ENTRIES_AT_ONCE = 1 << 20


class Sketch:
    """A long vector in few numbers, each the sum of every so many-th entry with a sign drawn for
    it. The difference of two vectors' sketches is as long as the difference of the vectors, give or
    take a tenth with 256 numbers (a count sketch: Charikar, Chen and Farach-Colton, 2002)."""

    def __init__(self, torch: Any, buckets: int) -> None:
        self._torch = torch
        self._buckets = buckets
        # The job may have set another default device.
        self._sums = torch.zeros(buckets, dtype=torch.float64, device="cpu")
        # Of its own: the job's draws stay what they are.
        self._signs = torch.Generator("cpu").manual_seed(_SEED)

    def add(self, part: Any) -> None:
        torch = self._torch
        flat = part.reshape(-1)
        for start in range(0, flat.numel(), _ENTRIES_AT_ONCE):
            entries = flat[start : start + _ENTRIES_AT_ONCE].to("cpu", torch.float64)
            drawn = torch.randint(2, (len(entries),), generator=self._signs, device="cpu")
            signs = drawn * 2 - 1
            missing = -len(entries) % self._buckets
            padded = torch.nn.functional.pad(entries * signs, (0, missing))
            self._sums += padded.reshape(-1, self._buckets).sum(0)

    def sums(self) -> list[float]:
        return [float(one) for one in self._sums]


class TensorSketches:
    """Of many tensors, one by one and where they lie: the same signs for each of them."""

    def __init__(self, torch: Any, buckets: int) -> None:
        self._torch = torch
        self._buckets = buckets
        drawn = torch.randint(
            2,
            (_ENTRIES_AT_ONCE,),
            generator=torch.Generator("cpu").manual_seed(_SEED),
            device="cpu",
        )
        self._signs = {"cpu": (drawn * 2 - 1).to(torch.float64)}

    def of(self, tensor: Any) -> list[float]:
        """Of a tensor with no more entries than buckets these are the entries, signs apart."""
        torch = self._torch
        flat = tensor.detach().reshape(-1)
        signs = self._signs_at(flat.device)
        sums = torch.zeros(self._buckets, dtype=torch.float64, device=flat.device)
        for start in range(0, flat.numel(), _ENTRIES_AT_ONCE):
            entries = flat[start : start + _ENTRIES_AT_ONCE].to(torch.float64)
            signed = entries * signs[: len(entries)]
            whole = len(signed) - len(signed) % self._buckets
            sums += signed[:whole].reshape(-1, self._buckets).sum(0)
            sums[: len(signed) - whole] += signed[whole:]
        return [float(one) for one in sums.tolist()]

    def _signs_at(self, device: Any) -> Any:
        key = str(device)
        if key not in self._signs:
            self._signs[key] = self._signs["cpu"].to(device)
        return self._signs[key]
