"""torch.distributions: the distributions of edgegrad."""

from __future__ import annotations

from typing import Any

from ._bridge import Foreign, foreign
from ._calls import attribute, construct, function, method, names_of
from ._tensor import Tensor
from ._types import Size


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


class Distribution(Foreign):
    """The base of the distributions."""

    _class: str | None = None

    def __init__(self, *args: Any, validate_args: bool | None = None, **parameters: Any) -> None:
        if self._class is None:
            raise NotImplementedError("distributions that are written in Python")
        options = {key: value for key, value in parameters.items() if value is not None}
        if validate_args is not None:
            options["validate_args"] = validate_args
        self.h = construct("distributions", self._class, [_plain(one) for one in args], options)

    batch_shape = property(lambda self: Size(attribute(self, "batch_shape")))
    event_shape = property(lambda self: Size(attribute(self, "event_shape")))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return method(self, "sample", [list(sample_shape)])

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return method(self, "rsample", [list(sample_shape)])

    def log_prob(self, value: Any) -> Tensor:
        return method(self, "logProb", [value])

    def entropy(self) -> Tensor:
        return method(self, "entropy")

    def cdf(self, value: Any) -> Tensor:
        return method(self, "cdf", [value])

    def icdf(self, value: Any) -> Tensor:
        return method(self, "icdf", [value])

    def expand(self, batch_shape: Any) -> Any:
        return method(self, "expand", [list(batch_shape)])


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    return function("distributions", "klDivergence", [p, q], None, "hold")


def __getattr__(name: str) -> Any:
    if name[:1].isupper() and name in names_of("distributions"):
        made = type(name, (Distribution,), {"_class": name, "__doc__": f"As torch.distributions.{name}.", "__module__": __name__})
        globals()[name] = foreign(name)(made)
        return made
    raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")
