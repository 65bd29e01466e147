"""torch.distributions.constraints: sets of values."""

from __future__ import annotations

from typing import Any

from .._bridge import Foreign, foreign
from .._calls import camel, function, lookup, method, names_of, read
from .._tensor import Tensor

_PATH = "distributions.constraints"


@foreign("Constraint")
class Constraint(Foreign):
    """A set of values."""

    event_dim = property(lambda self: read(self, "eventDim"))
    is_discrete = property(lambda self: read(self, "isDiscrete"))

    def check(self, value: Any) -> Tensor:
        """Which elements are in the set."""
        return method(self, "check", [value])


def is_dependent(constraint: Any) -> bool:
    """Whether a set depends on the values of others."""
    return isinstance(constraint, Foreign) and constraint is lookup(_PATH, "dependent")


def __getattr__(name: str) -> Any:
    js = camel(name)
    if name.startswith("_") or js not in names_of(_PATH):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")
    found = lookup(_PATH, js)
    if not callable(found):
        return found
    return lambda *args, **keywords: function(_PATH, js, args, keywords, "hold")
