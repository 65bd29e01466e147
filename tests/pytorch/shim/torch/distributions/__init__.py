"""torch.distributions: the distributions of edgegrad; their transforms and constraints are in files of their own."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from .._bridge import function
from stubs import missing
from stubs import module as _module
from . import constraints, transforms
from .distribution import Distribution, distribution
from .transforms import Transform

ExponentialFamily = distribution("ExponentialFamily")


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    return function("distributions", "klDivergence", [p, q])


def register_kl(type_p: Any, type_q: Any) -> Any:
    def register(rule: Any) -> Any:
        pair = [{"$path": one._path} for one in (type_p, type_q)]
        function("distributions", "registerKl", [*map(bridge.Encoded, pair), lambda p, q: rule(p, q)])
        return rule

    return register


biject_to = transforms.registry("bijectTo")
transform_to = transforms.registry("transformTo")
identity_transform = transforms.identity_transform
_module("torch.distributions.constraint_registry", biject_to=biject_to, transform_to=transform_to)
_module("torch.distributions.kl", kl_divergence=kl_divergence, register_kl=register_kl)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in bridge.names["spaces"]["distributions"] and name[:1].isupper():
        return transforms.transform(name) if name.endswith("Transform") else distribution(name)
    return missing("torch.distributions", name)
