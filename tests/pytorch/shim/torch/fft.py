"""torch.fft."""

from ._functions import namespace

__getattr__ = namespace("fft")
