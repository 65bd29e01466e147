"""torch.nn.utils.parametrizations."""

from . import functions_of

__getattr__ = functions_of("nn.utils.parametrizations")
