"""Whether a `collate_fn` goes on from what torch's default collation gives.

def collate_fn(batch):
    return mixup_or_cutmix(*default_collate(batch))
"""

from __future__ import annotations

import ast
import sys
from types import FunctionType
from typing import Any

from unstarve.lowering.batches.purity import Purity
from unstarve.lowering.inside import Unclear, function_of
from unstarve.lowering.originals import is_own


def goes_on_from_default(collate_fn: Any) -> bool:
    """Whether it asks `default_collate` once for its samples and nothing else of them, and changes
    nothing but what it makes. Where it runs, and on whose batch, nobody can tell then."""
    function, owner = function_of(collate_fn)
    if function is None:
        return False
    try:
        _Collation(function, owner).check()
    except Unclear:
        return False
    return True


class _Collation(Purity):
    """The function itself: its samples are no value of which anything else is asked."""

    def __init__(self, function: FunctionType, owner: Any) -> None:
        super().__init__(function, owner)
        if len(self.arguments) != 1:
            raise Unclear
        #: The name of the samples, until it is given to something else.
        self._samples = self.arguments[0]
        self._asked = 0

    def check(self) -> None:
        super().check()
        if self._asked != 1:
            raise Unclear

    def call(self, node: ast.Call) -> None:
        if not self._asks_default(node):
            super().call(node)
            return
        argument = node.args[0] if len(node.args) == 1 else None
        is_samples = isinstance(argument, ast.Name) and argument.id == self._samples
        if not is_samples or node.keywords:
            raise Unclear
        self._asked += 1

    def name(self, node: ast.Name) -> None:
        if node.id == self._samples:
            raise Unclear
        super().name(node)

    def assign(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> None:
        if isinstance(node, ast.Assign) and self._renames_samples(node):
            self.visit(node.value)
            self._samples = ""
        else:
            super().assign(node)

    def _renames_samples(self, node: ast.Assign) -> bool:
        """`batch = default_collate(batch)`, which always runs."""
        target = node.targets[0]
        is_name = isinstance(target, ast.Name) and target.id == self._samples
        always = not isinstance(self.node, ast.Lambda) and node in self.node.body
        return is_name and always and len(node.targets) == 1

    def _asks_default(self, node: ast.Call) -> bool:
        if self.is_of_local(node.func) or self.is_builtin(node.func):
            return False
        torch_collate = sys.modules["torch.utils.data._utils.collate"]
        return is_own(self.value(node.func), torch_collate, "default_collate")


__all__ = ["goes_on_from_default"]
