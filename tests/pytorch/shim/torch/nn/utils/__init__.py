"""torch.nn.utils."""

from __future__ import annotations

from typing import Any, Callable

from ... import _bridge as bridge
from ..._bridge import camel, function
from stubs import missing


def functions_of(path: str) -> Callable:
    """Returns the `__getattr__` of a module whose functions take iterators for lists."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name[:1].isupper() and name in bridge.names["spaces"][path]:
            return class_of(path, name)
        if camel(name) not in bridge.names["spaces"][path]:
            return missing(f"torch.{path}", name)

        def call(*args: Any, **keywords: Any) -> Any:
            given = [list(one) if hasattr(one, "__next__") else one for one in args]
            return function(path, camel(name), given, keywords)

        return call

    return find


_classes: dict[str, type] = {}


def class_of(path: str, name: str) -> type:
    """Returns a class of edgegrad that is no layer."""
    full = f"{path}.{name}"
    if full not in _classes:

        def init(self: Any, *args: Any, **keywords: Any) -> None:
            bridge.adopt(self, bridge.construct(full, args, keywords))

        def static(method: str) -> Any:
            return staticmethod(lambda *args, **keywords: function(full, method, args, keywords))

        members = {"__init__": init, "apply": static("apply"), "_js_value": {"$path": full}}
        _classes[full] = type(name, (bridge.JSObject,), members)
    return _classes[full]


__getattr__ = functions_of("nn.utils")
