"""torch.nn.init."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from .._bridge import camel, function
from stubs import missing

_NAMES = {"_calculate_fan_in_and_fan_out": "fans"}


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    js = _NAMES.get(name) or camel(name)
    if js not in bridge.names["spaces"]["nn.init"]:
        return missing("torch.nn.init", name)

    def call(*args: Any, **keywords: Any) -> Any:
        tensor = (keywords.pop("tensor"),) if "tensor" in keywords else ()
        return function("nn.init", js, [*tensor, *args], keywords)

    return call
