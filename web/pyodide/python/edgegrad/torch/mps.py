"""torch.mps: there is none, which programs ask for."""

from __future__ import annotations


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0
