"""torch.distributions.Distribution."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from .._bridge import Unsupported, camel, get, method
from .._types import Size

_SHAPES = ("batch_shape", "event_shape")


class _Class(type):
    def __getattr__(cls, name: str) -> Any:
        if name in ("has_rsample", "has_enumerate_support", "arg_constraints", "support"):
            raise Unsupported(f"n/a: {name} of classes, which instances have in edgegrad")
        raise AttributeError(name)

    @property
    def has_rsample(cls) -> bool:
        return bridge.lookup(f"{cls._path}.prototype.hasRsample")

    @property
    def has_enumerate_support(cls) -> bool:
        return bridge.lookup(f"{cls._path}.prototype.hasEnumerateSupport")


class Distribution(bridge.JSObject, metaclass=_Class):
    """Base of the distributions."""

    _path = "distributions.Distribution"

    def __init__(self, *args: Any, validate_args: Any = None, **keywords: Any) -> None:
        if self._id is not None:
            return
        # A class that extends one of edgegrad's is that in JavaScript.
        if type(self)._path == Distribution._path:
            raise Unsupported("shim: distributions defined in Python")
        options = {key: value for key, value in keywords.items() if value is not None}
        if validate_args is not None:
            options["validate_args"] = validate_args
        bridge.adopt(self, bridge.construct(type(self)._path, [_plain(one) for one in args], options))

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        bridge.function("distributions.Distribution", "setDefaultValidateArgs", [value])

    has_rsample = property(lambda self: get(self, "hasRsample"))
    has_enumerate_support = property(lambda self: get(self, "hasEnumerateSupport"))
    support = property(lambda self: get(self, "support"))

    @property
    def arg_constraints(self) -> dict:
        return {bridge.snake(key): value for key, value in get(self, "argConstraints").items()}

    def sample(self, sample_shape: Any = ()) -> Any:
        return method(self, "sample", [list(sample_shape)])

    def rsample(self, sample_shape: Any = ()) -> Any:
        return method(self, "rsample", [list(sample_shape)])

    def sample_n(self, n: int) -> Any:
        return self.sample([n])

    def rsample_n(self, n: int) -> Any:
        return self.rsample([n])

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return method(self, "expand", [list(batch_shape)])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name[1:] in _SHAPES:
            name = name[1:]
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _SHAPES:
            return Size(get(self, camel(name)))
        if not bridge.has(self, camel(name)):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        value = get(self, camel(name))
        if isinstance(value, bridge.JSFunction):
            return lambda *args, **keywords: method(self, camel(name), args, keywords)
        return value

    def __repr__(self) -> str:
        return method(self, "toString")


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


_classes: dict[str, type] = {}


def distribution(name: str) -> type:
    """Returns the class of edgegrad's distribution with this name."""
    if name not in _classes:
        members = {"_path": f"distributions.{name}", "__module__": __name__}
        _classes[name] = type(Distribution)(name, (Distribution,), members)
    return _classes[name]


bridge.classes["distribution"] = lambda described: distribution(described["k"])
