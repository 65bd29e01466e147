"""torch.distributions.constraint_registry."""

from . import biject_to, transform_to

__all__ = ["biject_to", "transform_to"]
