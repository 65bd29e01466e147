"""torch.nn.parameter."""

from typing import Any

from stubs import otherwise_missing
from .._tensor import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__getattr__ = otherwise_missing("torch.nn.parameter")


def is_lazy(param: Any) -> bool:
    return isinstance(param, (UninitializedBuffer, UninitializedParameter))
