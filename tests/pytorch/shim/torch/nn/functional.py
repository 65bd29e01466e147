"""torch.nn.functional."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from .._bridge import Unsupported, camel, function
from .._functions import find_function, forward
from stubs import missing
from . import grad as nn_grad


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    js = camel(name)
    if js not in bridge.names["spaces"]["nn.functional"]:
        return find_function(name) or missing("torch.nn.functional", name)
    plain = forward("nn.functional", js)

    def call(*args: Any, inplace: bool = False, **keywords: Any) -> Any:
        if not inplace:
            return plain(*args, **keywords)
        if "input" in keywords:
            args = (keywords.pop("input"), *args)
        if not hasattr(args[0], f"{name}_"):
            bridge.emulated.add("inplace=")
            return args[0].copy_(plain(*args, **keywords))
        return getattr(args[0], f"{name}_")(*args[1:], **keywords)

    call.__name__ = name
    globals()[name] = call
    return call


def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Any = None, **keywords: Any
) -> Any:
    """A module as the distance is a function in JavaScript."""
    if distance_function is not None:
        keywords["distance_function"] = lambda *given: distance_function(*given)
    return function("nn.functional", "tripletMarginWithDistanceLoss", [anchor, positive, negative], keywords)


grad = nn_grad


def _with_indices(name: str) -> Any:
    def pool(input: Any, *args: Any, return_indices: bool = True, **keywords: Any) -> Any:
        return function("nn.functional", name, [input, *args], {**keywords, "return_indices": True})

    return pool


max_pool1d_with_indices = _with_indices("maxPool1d")
max_pool2d_with_indices = _with_indices("maxPool2d")
max_pool3d_with_indices = _with_indices("maxPool3d")


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    name = "threshold_" if inplace else "threshold"
    return function("nn.functional", name, [input, threshold, value])
