"""How a line that reads a value back is written so that it waits for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from hook_jobs import hook_module


@pytest.fixture(scope="module")
def without_wait() -> Iterator[Any]:
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        hook_module("lines.deferral", monkeypatch) as module,
    ):
        yield module.without_wait


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("total += loss.item()", "total += loss.detach().double()"),
        (
            "    total += loss.item() * x.size(0)  # summed",
            "total += loss.detach().double() * x.size(0)  # summed",
        ),
        ("total += (a + b).item()", "total += (a + b).detach().double()"),
        ("total += float(loss) / 8", "total += loss.detach().double() / 8"),
        ("total += float(loss.item())", "total += loss.detach().double()"),
        (
            "self.hits += (p == y).sum().item()",
            "self.hits += (p == y).sum().detach().double()",
        ),
        ("losses.append(loss.item())", "losses.append(loss.detach().clone())"),
        ("losses += [loss.item()]", "losses += [loss.detach().clone()]"),
        (
            "log.append({'loss': loss.item(), 'lr': lr, 'hits': hits.item()})",
            "log.append({'loss': loss.detach().clone(), 'lr': lr, 'hits': hits.detach().clone()})",
        ),
    ],
)
def test_sums_and_lists_hold_the_value_itself(
    without_wait: Callable[[str], str], line: str, instead: str
) -> None:
    assert without_wait(line) == f"- {line.strip()}\n+ {instead}"


@pytest.mark.parametrize(
    "line", ["loss.item()", "torch.cuda.synchronize()", "torch.cuda.synchronize(device)"]
)
def test_what_nothing_uses_is_left_out(without_wait: Callable[[str], str], line: str) -> None:
    assert without_wait(f"\t{line}\n") == f"- {line}"


@pytest.mark.parametrize(
    "line",
    [
        "print(loss.item())",
        "x = loss.item()",  # whatever uses it may need a number
        "total -= loss.item()",
        "if loss.item() > 3:",
        "total += loss.item() if good else 0",
        "total += f(loss.item())",
        "losses.append(max(loss.item(), 0))",
        "losses.append(int(loss.item()))",
        "total += table[loss.item()]",
        "total += loss.cpu().item()",  # another wait is left
        "total += loss.item() * float(f(weight))",
        "total += loss.item() * float(weight)",  # which may be a number
        "total += float(f(loss))",
        "total += loss.item(); n += 1",
        "losses.append(",
        "item",
        "total += 1",
        "größe += loss.item()",  # columns are of octets
        "total += " + "x + " * 40 + "loss.item()",
        "(" * 110 + "item",
        "",
        "\0item",
    ],
)
def test_what_is_not_certain_is_left_alone(without_wait: Callable[[str], str], line: str) -> None:
    assert without_wait(line) == ""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64])
@pytest.mark.parametrize(
    "line", ["total += loss.item() * 3", "total += loss.item()", "kept.append(loss.item())"]
)
def test_values_come_out_the_same(
    without_wait: Callable[[str], str], line: str, dtype: torch.dtype
) -> None:
    values = (torch.randn(50, generator=torch.Generator().manual_seed(1)) * 100).to(dtype)

    def run(statement: str) -> tuple[Any, list[Any]]:
        names: dict[str, Any] = {"total": 0, "kept": []}
        for value in values:
            names["loss"] = value.clone()
            exec(statement, names)
            names["loss"].zero_()  # the job writes into it later
        total = names["total"]
        kept = [one.item() if isinstance(one, torch.Tensor) else one for one in names["kept"]]
        return (total.item() if isinstance(total, torch.Tensor) else total), kept

    assert run(without_wait(line).split("\n+ ")[1]) == run(line)
