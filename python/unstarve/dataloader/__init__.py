"""The drop-in: torch's DataLoader with the loading done natively where that is possible."""

from __future__ import annotations

from unstarve.dataloader.drop_in import DataLoader

__all__ = ["DataLoader"]
