"""torch.cuda: there is none, which programs ask for."""

from __future__ import annotations

from typing import Any

from . import amp


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0


def is_initialized() -> bool:
    return False


def manual_seed(seed: int) -> None:
    """Does nothing, as in PyTorch without CUDA."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Does nothing, as in PyTorch without CUDA."""


def __getattr__(name: str) -> Any:
    raise AttributeError(f"torch.cuda.{name}: there is no CUDA in a page; edgegrad's other device is 'webgpu'")
