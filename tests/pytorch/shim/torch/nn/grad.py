"""torch.nn.grad."""

from .utils import functions_of

__getattr__ = functions_of("nn.grad")
