"""torch.distributions.Distribution."""

from __future__ import annotations

from typing import Any

from .._bridge import Foreign, foreign
from .._calls import construct, function, method, read, snake
from .._tensor import Tensor
from .._types import Size


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

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether new distributions check their parameters and values."""
        function("distributions.Distribution", "setDefaultValidateArgs", [value])

    has_rsample = property(lambda self: read(self, "hasRsample"))
    has_enumerate_support = property(lambda self: read(self, "hasEnumerateSupport"))
    support = property(lambda self: read(self, "support"))
    batch_shape = _batch_shape = property(lambda self: Size(read(self, "batchShape")))
    event_shape = _event_shape = property(lambda self: Size(read(self, "eventShape")))

    @property
    def arg_constraints(self) -> dict:
        return {snake(key): value for key, value in read(self, "argConstraints").items()}

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return method(self, "sample", [list(sample_shape)])

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return method(self, "rsample", [list(sample_shape)])

    def sample_n(self, n: int) -> Tensor:
        return self.sample([n])

    def rsample_n(self, n: int) -> Tensor:
        return self.rsample([n])

    def log_prob(self, value: Any) -> Tensor:
        return method(self, "logProb", [value])

    def entropy(self) -> Tensor:
        return method(self, "entropy")

    def cdf(self, value: Any) -> Tensor:
        return method(self, "cdf", [value])

    def icdf(self, value: Any) -> Tensor:
        return method(self, "icdf", [value])

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return method(self, "expand", [list(batch_shape)])


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


_classes: dict[str, type] = {}


def distribution(name: str) -> type:
    """Returns the class of edgegrad's distribution with this name."""
    made = _classes.get(name)
    if made is None:
        members = {"_class": name, "__doc__": f"As torch.distributions.{name}.", "__module__": __name__}
        made = _classes[name] = foreign(name)(type(name, (Distribution,), members))
    return made
