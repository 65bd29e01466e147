"""What torch.Tensor has for sparse tensors."""

from __future__ import annotations

from typing import Any

from .._bridge import Unsupported, get, method
from .._types import LAYOUTS, check_layout, layout, refused, sparse_coo, sparse_csr
from .tensor import Tensor


def _layout(self: Tensor) -> layout:
    # A tensor keeps its layout.
    if "_layout" not in self.__dict__:
        self.__dict__["_layout"] = LAYOUTS[get(self, "layout")]
    return self.__dict__["_layout"]


def _values(self: Tensor) -> Tensor:
    return method(self, "values", [False])


def _to_sparse(self: Tensor, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, **keywords: Any) -> Tensor:
    check_layout(layout)
    dims = keywords.pop("sparseDims", sparse_dim)
    if keywords or blocksize is not None or layout not in (None, sparse_coo, sparse_csr):
        raise Unsupported("missing: sparse layouts")
    if layout is sparse_csr:
        return method(self, "toSparseCsr")
    return method(self, "toSparse", [] if dims is None else [dims])


def _to_sparse_csr(self: Tensor, dense_dim: Any = None) -> Tensor:
    if dense_dim:
        raise Unsupported("missing: sparse layouts")
    return method(self, "toSparseCsr")


def _to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    dense = method(self, "toDense")
    return dense if dtype is None else dense.to(dtype)


_MEMBERS = {
    "layout": property(_layout),
    "is_sparse": property(lambda self: _layout(self) is sparse_coo),
    "is_sparse_csr": property(lambda self: _layout(self) is sparse_csr),
    "is_coalesced": lambda self: get(self, "isCoalesced"),
    "sparse_dim": lambda self: get(self, "sparseDim"),
    "dense_dim": lambda self: get(self, "denseDim"),
    "_nnz": lambda self: get(self, "nnz"),
    "_indices": lambda self: method(self, "indices"),
    "_values": _values,
    "to_sparse": _to_sparse,
    "to_sparse_coo": lambda self: method(self, "toSparse"),
    "to_sparse_csr": _to_sparse_csr,
    "to_dense": _to_dense,
}
for _name in ("to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc", "ccol_indices", "row_indices"):
    _MEMBERS[_name] = refused(_name)
for _name, _member in _MEMBERS.items():
    setattr(Tensor, _name, _member)
