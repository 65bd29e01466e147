"""torch.nn.parameter."""

from typing import Any

from .._stubs import otherwise_missing
from .._tensor import Buffer, Parameter

__getattr__ = otherwise_missing("torch.nn.parameter")


def is_lazy(param: Any) -> bool:
    return False
