"""torch.fft: the functions of edgegrad."""

from ._declared import namespace

__getattr__ = namespace("fft", __name__)
