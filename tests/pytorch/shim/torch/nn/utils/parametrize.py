"""torch.nn.utils.parametrize."""

from . import functions_of

__getattr__ = functions_of("nn.utils.parametrize")
