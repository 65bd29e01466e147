"""torch.distributions.transforms."""

from __future__ import annotations

from typing import Any

from .._bridge import Foreign, foreign
from .._calls import construct, method, names_of, read
from .._tensor import Tensor
from .._types import Size


class Transform(Foreign):
    """The base of the transforms."""

    _class: str | None = None

    def __init__(self, *args: Any, **parameters: Any) -> None:
        if self._class is None:
            raise NotImplementedError("transforms that are written in Python")
        given = [list(one) if isinstance(one, tuple) else one for one in args]
        options = {key: value for key, value in parameters.items() if value is not None}
        self.h = construct("distributions", self._class, given, options)

    bijective = property(lambda self: read(self, "bijective"))
    domain = property(lambda self: read(self, "domain"))
    codomain = property(lambda self: read(self, "codomain"))
    sign = property(lambda self: read(self, "sign"))
    inv = property(lambda self: read(self, "inv"))

    def __call__(self, x: Any) -> Tensor:
        return method(self, "call", [x])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Tensor:
        return method(self, "logAbsDetJacobian", [x, y])

    def with_cache(self, cache_size: int = 1) -> Any:
        return method(self, "withCache", [cache_size])

    def forward_shape(self, shape: Any) -> Size:
        return Size(method(self, "forwardShape", [list(shape)]))

    def inverse_shape(self, shape: Any) -> Size:
        return Size(method(self, "inverseShape", [list(shape)]))


_classes: dict[str, type] = {}


def transform(name: str) -> type:
    """Returns the class of edgegrad's transform with this name."""
    made = _classes.get(name)
    if made is None:
        members = {"_class": name, "__doc__": f"As torch.distributions.{name}.", "__module__": __name__}
        made = _classes[name] = foreign(name)(type(name, (Transform,), members))
    return made


def __getattr__(name: str) -> Any:
    if name == "identity_transform":
        return transform("ComposeTransform")([])
    if not name.startswith("_") and name in names_of("distributions") and name.endswith("Transform"):
        return transform(name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")
