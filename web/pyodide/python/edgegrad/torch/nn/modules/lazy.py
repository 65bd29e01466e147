"""torch.nn.modules.lazy."""

from ..lazy import LazyModuleMixin

__all__ = ["LazyModuleMixin"]
