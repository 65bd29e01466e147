"""torch.signal.windows: the functions of edgegrad."""

from .._declared import namespace

__getattr__ = namespace("signal.windows", __name__)
