"""Whether two samples of numbers can be of one distribution, by Kolmogorov's and Smirnov's test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def distance(first: Any, second: Any) -> float:
    """The largest difference of their shares below a value; arrays or lists, flattened."""
    one, other = (np.sort(np.ravel(values)) for values in (first, second))
    at = np.concatenate([one, other])
    shares = [np.searchsorted(values, at, "right") / len(values) for values in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())


def limit(first: int, second: int) -> float:
    """Of so many numbers of one distribution, further apart in one of a hundred."""
    return 1.63 * math.sqrt((first + second) / (first * second))
