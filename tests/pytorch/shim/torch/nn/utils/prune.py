"""torch.nn.utils.prune."""

from . import functions_of

__getattr__ = functions_of("nn.utils.prune")
