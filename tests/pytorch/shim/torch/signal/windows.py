"""torch.signal.windows."""

from .._functions import namespace

__getattr__ = namespace("signal.windows")
