"""torch.nn.utils.parametrizations: normalized and orthogonal weights."""

from __future__ import annotations

from typing import Any

from ..._functions import find as _find
from ..._modes import no_grad
from ..._tensor import Tensor
from .. import functional as F
from ..module import Module
from .orthogonal import orthogonal
from .parametrize import register_parametrization


def norm_of_slices(weight: Tensor, dim: int) -> Tensor:
    """The norms of the slices along a dimension, or with -1 of the whole tensor."""
    if dim == -1:
        return weight.norm()
    axis = dim % weight.dim()
    return (weight**2).sum(dim=[d for d in range(weight.dim()) if d != axis], keepdim=True).sqrt()


class _WeightNorm(Module):
    """A direction and its norms."""

    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_of_slices(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple:
        return norm_of_slices(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learns a weight as a direction and norms, one for each slice along `dim`; with None, one for all."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def convert(_: Module, state: dict, prefix: str, *rest: Any) -> None:
        for old, new in (("_g", "0"), ("_v", "1")):
            key = f"{prefix}{name}{old}"
            if key in state:
                state[f"{prefix}parametrizations.{name}.original{new}"] = state.pop(key)

    module.register_load_state_dict_pre_hook(convert)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which power iterations estimate."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(f"spectral_norm(): dim {dim} is out of range for a weight of {weight.dim()} dimensions")
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm(): n_power_iterations: expected a positive number, got {n_power_iterations}")
        self.dim = dim % weight.dim()
        self.eps, self.n_power_iterations = eps, n_power_iterations
        if weight.dim() > 1:
            matrix = self._matrix(weight.detach())
            rows, columns = matrix.shape
            self.register_buffer("_u", F.normalize(matrix.new_empty(rows).normal_(), dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(matrix.new_empty(columns).normal_(), dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _iterate(self, matrix: Tensor, count: int) -> None:
        with no_grad():
            for _ in range(count):
                self._u.copy_(F.normalize(matrix @ self._v, dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.mH @ self._u, dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        # The vectors change in place at the next use.
        u, v = self._u.clone(), self._v.clone()
        vdot = _find("vdot")
        assert vdot is not None
        return weight / vdot(u, matrix @ v)

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None) -> Module:
    """Divides a weight by its largest singular value; `dim` is that of the outputs."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{type(module).__name__} has no parameter or buffer '{name}'")
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
