"""torch.nn."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from stubs import missing
from .._tensor import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from . import functional, grad, init, modules, parameter, utils
from .module import Module, layer


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name[:1].isupper() and name in bridge.names["spaces"]["nn"]:
        return layer(name)
    return missing("torch.nn", name)
