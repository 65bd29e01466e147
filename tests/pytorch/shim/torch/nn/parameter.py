"""torch.nn.parameter."""

from .._stubs import otherwise_missing
from .._tensor import Buffer, Parameter

__getattr__ = otherwise_missing("torch.nn.parameter")
