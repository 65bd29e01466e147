"""Weights whose columns, or rows if there are fewer, are orthogonal vectors of norm 1."""

from __future__ import annotations

from typing import Any, Callable

from ... import _functions
from ..._creation import eye, randn, zeros_like
from ..._modes import no_grad
from ..._tensor import Tensor
from ...linalg import householder_product, qr, solve
from ..module import Module
from .parametrize import register_parametrization

_MAPS = ("matrix_exp", "cayley", "householder")
_cat: Any = _functions.find("cat")


class _Orthogonal(Module):
    """An orthogonal matrix as a function of any matrix, or with `base` as a constant one times such a function."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("the householder parametrization does not support complex tensors")
        self.shape, self.orthogonal_map, self.use_trivialization = weight.shape, orthogonal_map, use_trivialization
        self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        return _of_tall(X, self._forward)

    def _forward(self, tall: Tensor) -> Tensor:
        made = _reflected(tall) if self.orthogonal_map == "householder" else self._rotated(tall)
        return made if self.base is None else self.base @ made

    def _rotated(self, tall: Tensor) -> Tensor:
        """The exponential or the Cayley map of an antisymmetric matrix, cut to the columns of the weight."""
        rows, columns = tall.shape[-2:]
        lower = tall.tril()
        if rows != columns:
            lower = _cat([lower, tall.new_zeros((*tall.shape[:-1], rows - columns))], -1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            rotation = skew.matrix_exp()
        else:
            identity = eye(rows, dtype=tall.dtype, device=tall.device)
            rotation = solve(identity - skew / 2, identity + skew / 2)
        return rotation[..., :columns]

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(f"expected a matrix or a batch of matrices of shape {self.shape}, got {Q.shape}")
        with no_grad():
            if self.use_trivialization:
                _of_tall(Q, self._set_base)
                made = zeros_like(Q)
                made.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
                return made
            if self.orthogonal_map == "householder":
                return _of_tall(Q, _reflections)
            raise NotImplementedError(
                "it is not possible to assign to the matrix exponential or the Cayley parametrizations with use_trivialization=False"
            )

    def _set_base(self, tall: Tensor) -> Tensor:
        rows, columns = tall.shape[-2:]
        identity = eye(rows, dtype=tall.dtype, device=tall.device)
        if rows == columns and (tall.mH @ tall).allclose(identity, atol=10 * rows * _functions.finfo(tall.dtype).eps):
            self.base = tall.clone()
            return tall
        more = randn(*tall.shape[:-1], rows - columns, dtype=tall.dtype, device=tall.device)
        rotation, upper = qr(_cat([tall, more], -1))
        self.base = rotation * upper.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
        return tall


def _of_tall(matrix: Tensor, call: Callable[[Tensor], Tensor]) -> Tensor:
    """Calls a function with a matrix that has at least as many rows as columns, or with the transpose of one that has fewer."""
    return call(matrix.mT).mT if matrix.shape[-2] < matrix.shape[-1] else call(matrix)


def _reflected(tall: Tensor) -> Tensor:
    directions = tall.tril(-1)
    product = householder_product(directions, 2.0 / (1.0 + (directions * directions).sum(-2)))
    # Whole numbers without a gradient, as in PyTorch.
    return product * tall.detach().diagonal(dim1=-2, dim2=-1).trunc().unsqueeze(-2)


def _reflections(tall: Tensor) -> Tensor:
    """The directions of the reflections that make a matrix triangular, and on the diagonal the signs of its diagonal."""
    rest, made = tall.clone(), zeros_like(tall)
    for column in range(tall.shape[-1]):
        x = rest[..., column:, column]
        first, norm = x[..., :1], x.norm(dim=-1, keepdim=True)
        is_reflected = x[..., 1:].abs().sum(-1, keepdim=True) > 0
        end = _functions.where(is_reflected, _functions.where(first >= 0, -norm, norm), first)
        tail = _functions.where(is_reflected, x[..., 1:] / (first - end + (~is_reflected)), 0.0)
        v = _cat([tail.new_ones((*tail.shape[:-1], 1)), tail], -1)
        tau = _functions.where(is_reflected, 2.0 / (v * v).sum(-1, keepdim=True), 0.0)
        block = rest[..., column:, column:]
        block -= (tau * v).unsqueeze(-1) * (v.unsqueeze(-2) @ block)
        made[..., column + 1 :, column] = tail
        # Where there is nothing to reflect, a product of reflections has the opposite sign.
        sign = _functions.where((end < 0) == is_reflected, -1.0, 1.0)
        made[..., column, column] = sign.squeeze(-1)
    return made


def orthogonal(module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True) -> Module:
    """Learns a weight whose columns, or rows if there are fewer, are orthogonal vectors of norm 1."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{type(module).__name__} has no parameter or buffer '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"orthogonal(): expected a matrix or a batch of matrices, got a tensor of {weight.ndim} dimensions")
    is_square = weight.shape[-2] == weight.shape[-1]
    chosen = orthogonal_map or ("matrix_exp" if is_square or weight.is_complex() else "householder")
    if chosen not in _MAPS:
        raise ValueError(f"orthogonal(): orthogonal_map has to be one of {', '.join(_MAPS)}, got {orthogonal_map!r}")
    made = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
