"""torch.distributions.constraints."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from .._bridge import camel, function, get, method
from stubs import missing


class Constraint(bridge.JSObject):
    """A set of values."""

    event_dim = property(lambda self: get(self, "eventDim"))
    is_discrete = property(lambda self: get(self, "isDiscrete"))

    def check(self, value: Any) -> Any:
        return method(self, "check", [value])

    def __repr__(self) -> str:
        return method(self, "toString")


bridge.classes["constraint"] = Constraint
_NAMES = {"greater_than_eq": "greaterThanEq", "cat": "cat", "stack": "stack"}


def is_dependent(constraint: Any) -> bool:
    return constraint is bridge.lookup("distributions.constraints.dependent")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    js = camel(name)
    if js not in bridge.names["spaces"]["distributions.constraints"]:
        return missing("torch.distributions.constraints", name)
    found = bridge.lookup(f"distributions.constraints.{js}")
    if isinstance(found, Constraint):
        return found
    return lambda *args, **keywords: function("distributions.constraints", js, args, keywords)
