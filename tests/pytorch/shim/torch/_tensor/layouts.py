"""What torch.Tensor has for sparse tensors."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from .._bridge import Unsupported, get, method
from .._types import check_layout, layout, refused, sparse_coo, sparse_csr, strided
from .tensor import Tensor


def _values(self: Tensor) -> Tensor:
    return method(self, "values", [False])


def _to_sparse(self: Tensor, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, **keywords: Any) -> Tensor:
    check_layout(layout)
    dims = keywords.pop("sparseDims", sparse_dim)
    dense_dim = keywords.pop("dense_dim", None)
    if keywords or blocksize is not None:
        raise Unsupported("missing: the options of to_sparse()")
    if layout is strided:
        return _to_dense(self)
    if layout is sparse_csr:
        return _to_sparse_csr(self, dense_dim)
    if dense_dim is not None:
        dims = self.ndim - dense_dim
    return method(self, "toSparse", [] if dims is None else [dims])


def _to_sparse_csr(self: Tensor, dense_dim: Any = None) -> Tensor:
    return method(self, "toSparseCsr", [] if dense_dim is None else [dense_dim])


def _coalesced_(self: Tensor, is_coalesced: bool) -> Tensor:
    """PyTorch's internal switch, which checks nothing: edgegrad has one only where a tensor is made."""
    if self.is_coalesced() != is_coalesced:
        bridge.emulated.add("_coalesced_")
        parts = [self._indices(), self._values(), list(self.shape)]
        self.become(bridge.function("", "sparseCooTensor", parts, {"is_coalesced": is_coalesced}))
        # edgegrad knows that one position cannot be out of order.
        self.__dict__["_is_said_to_be_coalesced"] = is_coalesced
    return self


def is_coalesced(self: Tensor) -> bool:
    return self.__dict__.get("_is_said_to_be_coalesced", get(self, "isCoalesced"))


def _to_dense(self: Tensor, dtype: Any = None, *, masked_grad: Any = None) -> Tensor:
    dense = method(self, "toDense")
    return dense if dtype is None else dense.to(dtype)


_MEMBERS = {
    "is_sparse": property(lambda self: self.layout is sparse_coo),
    "is_sparse_csr": property(lambda self: self.layout is sparse_csr),
    "is_coalesced": is_coalesced,
    "sparse_dim": lambda self: get(self, "sparseDim"),
    "dense_dim": lambda self: get(self, "denseDim"),
    "_nnz": lambda self: get(self, "nnz"),
    "_indices": lambda self: method(self, "indices"),
    "_values": _values,
    "to_sparse": _to_sparse,
    "to_sparse_coo": lambda self: method(self, "toSparse"),
    "to_sparse_csr": _to_sparse_csr,
    "to_dense": _to_dense,
    "_coalesced_": _coalesced_,
}
for _name in ("to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc", "ccol_indices", "row_indices"):
    _MEMBERS[_name] = refused(_name)
for _name, _member in _MEMBERS.items():
    setattr(Tensor, _name, _member)
