"""torch.distributions: the distributions of edgegrad; their transforms and constraints are in files of their own."""

from __future__ import annotations

from typing import Any

from .._bridge import Foreign
from .._calls import function, names_of
from .._tensor import Tensor
from . import constraints, transforms
from .distribution import Distribution, distribution
from .transforms import Transform



def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence of two distributions."""
    return function("distributions", "klDivergence", [p, q], None, "hold")


def biject_to(constraint: Foreign) -> Transform:
    """A bijection from all numbers to those of a constraint."""
    return function("distributions", "bijectTo", [constraint], None, "hold")


def transform_to(constraint: Foreign) -> Transform:
    """A transform from all numbers to those of a constraint."""
    return function("distributions", "transformTo", [constraint], None, "hold")


def __getattr__(name: str) -> Any:
    if name[:1].isupper() and name in names_of("distributions"):
        return transforms.transform(name) if name.endswith("Transform") else distribution(name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")


identity_transform = transforms.transform("ComposeTransform")([])
__all__ = ["Distribution", "Transform", "biject_to", "constraints", "kl_divergence", "transform_to"]
