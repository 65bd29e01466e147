"""Dropout."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .made import layer
from .module import Module


def _dropout(name: str, function: str) -> type:
    def call(self: Any, input: Any) -> Any:
        return getattr(F, function)(input, self.p, self.training, inplace=self.inplace)

    made = layer(name, "p=0.5 inplace=False", call, lambda self: f"p={self.p}, inplace={self.inplace}", module=__name__)
    init = made.__init__

    def construct(self: Any, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        init(self, p, inplace)

    setattr(made, "__init__", construct)
    return made


Dropout, AlphaDropout = _dropout("Dropout", "dropout"), _dropout("AlphaDropout", "alpha_dropout")
Dropout1d, Dropout2d, Dropout3d = (_dropout(f"Dropout{n}d", f"dropout{n}d") for n in (1, 2, 3))
FeatureAlphaDropout = _dropout("FeatureAlphaDropout", "feature_alpha_dropout")
__all__ = [name for name, one in list(globals().items()) if isinstance(one, type) and issubclass(one, Module) and one is not Module]
