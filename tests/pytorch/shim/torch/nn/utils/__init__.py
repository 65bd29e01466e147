"""torch.nn.utils."""

from __future__ import annotations

from typing import Any, Callable

from ... import _bridge as bridge
from ..._bridge import camel, function
from ..._stubs import missing


def functions_of(path: str) -> Callable:
    """Returns the `__getattr__` of a module whose functions take iterators for lists."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if camel(name) not in bridge.names["spaces"][path]:
            return missing(f"torch.{path}", name)

        def call(*args: Any, **keywords: Any) -> Any:
            given = [list(one) if hasattr(one, "__next__") else one for one in args]
            return function(path, camel(name), given, keywords)

        return call

    return find


__getattr__ = functions_of("nn.utils")
