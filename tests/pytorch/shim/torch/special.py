"""torch.special."""

from ._functions import namespace

__getattr__ = namespace("special")
