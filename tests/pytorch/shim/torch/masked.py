"""torch.masked."""

from ._functions import namespace

__getattr__ = namespace("masked")
