"""torch.nn.parameter."""

from .._parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter"]
