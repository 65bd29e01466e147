"""torch.linalg: the functions of edgegrad."""

from ._declared import namespace

__getattr__ = namespace("linalg", __name__)
