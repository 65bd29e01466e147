"""torch.sparse, and the functions of torch that make sparse tensors."""

from __future__ import annotations

from typing import Any

from ._calls import function
from ._creation import tensor, zeros
from ._declared import namespace
from ._layouts import refused
from ._tensor import Tensor
from ._types import dtype as dtype_, int64, sparse_coo, sparse_csr

__getattr__ = namespace("sparse", __name__)


class check_sparse_tensor_invariants:
    """PyTorch's switch for checks, as a block and as a decorator. edgegrad always checks."""

    def __init__(self, enable: bool = True) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *failure: Any) -> None:
        pass

    def __call__(self, function: Any) -> Any:
        return function

    @staticmethod
    def is_enabled() -> bool:
        return True

    @staticmethod
    def enable() -> None:
        """Checks are on."""

    @staticmethod
    def disable() -> None:
        """Checks remain on."""


def _values(values: Any, kind: dtype_ | None) -> Tensor:
    if isinstance(values, Tensor):
        return values if kind is None else values.to(kind)
    return tensor(values, dtype=kind)


def _indices(indices: Any) -> Tensor:
    return indices if isinstance(indices, Tensor) else tensor(indices, dtype=int64)


def _made(name: str, parts: list, size: Any, device: Any, requires_grad: bool, **options: Any) -> Tensor:
    made: Tensor = function("", name, [*parts, None if size is None else list(size)], options)
    if device is not None:
        made = made.to(device)
    return made.requires_grad_() if requires_grad else made


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: dtype_ | None = None,
    device: Any = None,
    requires_grad: bool = False,
    is_coalesced: bool | None = None,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
    layout: Any = None,
) -> Tensor:
    """A sparse tensor of the positions `indices`, a column for each, and their values; or of a size alone, without elements."""
    if values is None:
        size = list(indices)
        indices = zeros(len(size), 0, dtype=int64)
        values = zeros(0, dtype=dtype)
    parts = [_indices(indices), _values(values, dtype)]
    return _made("sparseCooTensor", parts, size, device, requires_grad, is_coalesced=bool(is_coalesced))


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: dtype_ | None = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
    layout: Any = None,
) -> Tensor:
    """A sparse matrix by rows: where each begins, the columns of its elements, and the elements."""
    parts = [_indices(crow_indices), _indices(col_indices), _values(values, dtype)]
    return _made("sparseCsrTensor", parts, size, device, requires_grad)


def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, layout: Any, **keywords: Any
) -> Tensor:
    """A sparse matrix by rows; edgegrad has no other compressed layout."""
    if layout is not sparse_csr:
        raise NotImplementedError(f"layout={layout!r}: of the compressed layouts edgegrad has torch.sparse_csr; the columns are the rows of x.t()")
    return sparse_csr_tensor(compressed_indices, plain_indices, values, size, **keywords)


sparse_csc_tensor = refused("sparse_csc_tensor")
sparse_bsr_tensor, sparse_bsc_tensor = refused("sparse_bsr_tensor"), refused("sparse_bsc_tensor")


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """Returns gradcheck itself, which takes sparse tensors."""
    return gradcheck


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    """A sparse matrix whose diagonals are the rows of `diagonals`."""
    if offsets.dtype is not int64:
        raise RuntimeError(f"spdiags(offsets): expected int64, got {offsets.dtype}")
    if layout not in (None, sparse_coo, sparse_csr):
        raise RuntimeError(f"spdiags(layout): expected a sparse layout of edgegrad, got {layout!r}")
    if offsets.ndim > 1:
        raise RuntimeError(f"spdiags(offsets): expected a vector, got {offsets.ndim} dimensions")
    made = function("sparse", "spdiags", [diagonals, offsets.tolist(), list(shape)])
    return made.to_sparse_csr() if layout is sparse_csr else made
