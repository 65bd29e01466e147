"""torch.optim."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from stubs import missing
from . import lr_scheduler, swa_utils
from .optimizer import Optimizer, optimizer


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name[:1].isupper() and name in bridge.names["spaces"]["optim"]:
        made = globals()[name] = optimizer(name)
        return made
    return missing("torch.optim", name)
