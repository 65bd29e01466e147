"""torch.distributions.transforms."""

from __future__ import annotations

from typing import Any, Callable

from .. import _bridge as bridge
from .._bridge import Unsupported, function, get, method
from stubs import missing
from .._types import Size


class Transform(bridge.JSObject):
    """Base of the transforms."""

    _path = "distributions.Transform"

    def __init__(self, *args: Any, **keywords: Any) -> None:
        if self._id is not None:
            return
        if type(self).__module__ != __name__:
            raise Unsupported("shim: transforms defined in Python")
        given = [list(one) if isinstance(one, tuple) else one for one in args]
        options = {key: value for key, value in keywords.items() if value is not None}
        bridge.adopt(self, bridge.construct(type(self)._path, given, options))

    bijective = property(lambda self: get(self, "bijective"))
    domain = property(lambda self: get(self, "domain"))
    codomain = property(lambda self: get(self, "codomain"))
    sign = property(lambda self: get(self, "sign"))

    def __call__(self, x: Any) -> Any:
        return method(self, "call", [x])

    @property
    def inv(self) -> Any:
        return get(self, "inv")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return method(self, "logAbsDetJacobian", [x, y])

    def with_cache(self, cache_size: int = 1) -> Any:
        return method(self, "withCache", [cache_size])

    def forward_shape(self, shape: Any) -> Size:
        return Size(method(self, "forwardShape", [list(shape)]))

    def inverse_shape(self, shape: Any) -> Size:
        return Size(method(self, "inverseShape", [list(shape)]))

    def __repr__(self) -> str:
        return method(self, "toString")


_classes: dict[str, type] = {}


def transform(name: str) -> type:
    """Returns the class of edgegrad's transform with this name."""
    if name not in _classes:
        members = {"_path": f"distributions.{name}", "__module__": __name__}
        _classes[name] = type(name, (Transform,), members)
    return _classes[name]


bridge.classes["transform"] = lambda described: transform(described["k"])


identity_transform = transform("ComposeTransform")([])


def registry(name: str) -> Callable:
    return lambda constraint: function("distributions", name, [constraint])


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in bridge.names["spaces"]["distributions"] and name.endswith("Transform"):
        return transform(name)
    return missing("torch.distributions.transforms", name)
