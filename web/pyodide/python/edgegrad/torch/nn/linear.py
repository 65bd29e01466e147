"""Layers of matrix products."""

from __future__ import annotations

import math
from typing import Any

from .. import _creation
from .._parameter import Parameter
from .._tensor import Tensor
from . import functional as F, init
from .made import layer
from .module import Module


def empty_parameter(*size: int, device: Any = None, dtype: Any = None) -> Parameter:
    """A parameter to be initialized."""
    return Parameter(_creation.empty(*size, device=device, dtype=dtype))


class Linear(Module):
    """As torch.nn.Linear."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = empty_parameter(out_features, in_features, device=device, dtype=dtype)
        if bias:
            self.bias = empty_parameter(out_features, device=device, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        own = self._parameters
        try:
            return F.linear(input, own["weight"], own["bias"])
        except KeyError:
            # A computed weight is an attribute.
            return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """As torch.nn.Bilinear."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = empty_parameter(out_features, in1_features, in2_features, device=device, dtype=dtype)
        if bias:
            self.bias = empty_parameter(out_features, device=device, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class Identity(Module):
    """As torch.nn.Identity: takes any arguments and returns its input."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


CosineSimilarity = layer(
    "CosineSimilarity", "dim=1 eps=1e-8", lambda s, x, y: F.cosine_similarity(x, y, s.dim, s.eps), lambda self: "", module=__name__
)
PairwiseDistance = layer(
    "PairwiseDistance",
    "p=2.0 eps=1e-6 keepdim=False",
    lambda s, x, y: F.pairwise_distance(x, y, s.p, s.eps, s.keepdim),
    lambda self: "",
    module=__name__,
)
