"""torch.special: the functions of edgegrad."""

from ._declared import namespace

__getattr__ = namespace("special", __name__)
