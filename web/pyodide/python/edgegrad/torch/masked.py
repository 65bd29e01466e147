"""torch.masked: the functions of edgegrad."""

from ._declared import namespace

__getattr__ = namespace("masked", __name__)
