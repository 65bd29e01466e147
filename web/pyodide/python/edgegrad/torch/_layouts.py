"""What torch.Tensor has for sparse tensors."""

from __future__ import annotations

from typing import Any

from ._bridge import js
from ._calls import function
from ._tensor import Tensor
from ._types import layout as layout_, sparse_coo, sparse_csr, strided


def _to_sparse(
    self: Tensor, sparse_dim: int | None = None, *, layout: layout_ | None = None, blocksize: Any = None, dense_dim: int | None = None
) -> Tensor:
    if blocksize is not None or layout not in (None, strided, sparse_coo, sparse_csr):
        raise NotImplementedError(f"to_sparse(layout={layout!r}): edgegrad has torch.sparse_coo and torch.sparse_csr")
    if layout is strided:
        return _to_dense(self)
    if layout is sparse_csr:
        return _to_sparse_csr(self, dense_dim)
    dims = sparse_dim if dense_dim is None else self.ndim - dense_dim
    return function("Tensor", "toSparse", [self] if dims is None else [self, dims])


def _to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Tensor:
    return function("Tensor", "toSparseCsr", [self] if dense_dim is None else [self, dense_dim])


def _to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    dense: Tensor = function("Tensor", "toDense", [self])
    return dense if dtype is None else dense.to(dtype)


def refused(name: str) -> Any:
    """A function or method for the layouts that edgegrad does not have."""

    def call(*args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"{name}(): edgegrad has torch.sparse_coo and torch.sparse_csr; the columns of a matrix are the rows of x.t()")

    call.__name__ = name
    return call


_MEMBERS: dict[str, Any] = {
    "is_coalesced": lambda self: js.property(self.h, "isCoalesced"),
    "sparse_dim": lambda self: js.property(self.h, "sparseDim"),
    "dense_dim": lambda self: js.property(self.h, "denseDim"),
    "_nnz": lambda self: js.property(self.h, "nnz"),
    "_indices": lambda self: function("Tensor", "indices", [self]),
    "_values": lambda self: function("Tensor", "values", [self, False]),
    "to_sparse": _to_sparse,
    "to_sparse_coo": _to_sparse,
    "to_sparse_csr": _to_sparse_csr,
    "to_dense": _to_dense,
}
for _name in ("to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc", "ccol_indices", "row_indices"):
    _MEMBERS[_name] = refused(_name)
for _name, _member in _MEMBERS.items():
    setattr(Tensor, _name, _member)
