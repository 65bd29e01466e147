"""torch.nn.init: how parameters begin. Every function changes its tensor in place, without recording, and returns it."""

from __future__ import annotations

import sys
from typing import Any

from .._calls import camel, invoke, function, names_of


def __getattr__(name: str) -> Any:
    js = camel(name)
    if name.startswith("__") or js not in names_of("nn.init"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")

    def call(tensor: Any, *args: Any, **keywords: Any) -> Any:
        if not name.endswith("_"):
            return function("nn.init", js, [tensor, *args], keywords)
        given = {key: value for key, value in keywords.items() if value is not None}
        invoke("nn.init", js, [tensor, *args], given, "void")
        return tensor

    call.__name__ = name
    setattr(sys.modules[__name__], name, call)
    return call


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    return function("nn.init", "calculateGain", [nonlinearity] if param is None else [nonlinearity, param])
