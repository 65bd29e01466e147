"""torch.sparse, and functions that make sparse tensors."""

from __future__ import annotations

from typing import Any

from ._bridge import function
from ._creation import dtype_of_data, tensor, zeros
from ._functions import namespace
from ._tensor import Tensor
from ._types import dtype as dtype_class
from ._types import check_layout, refused, sparse_coo, sparse_csr

__getattr__ = namespace("sparse")

class check_sparse_tensor_invariants:
    """PyTorch's switch for checks, as a block and as a decorator. edgegrad always checks."""

    def __init__(self, enable: bool = True) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass

    def __call__(self, decorated: Any) -> Any:
        return decorated

    @staticmethod
    def is_enabled() -> bool:
        return True

    @staticmethod
    def enable() -> None:
        pass

    @staticmethod
    def disable() -> None:
        pass


def _values(values: Any, dtype: dtype_class | None) -> Tensor:
    if isinstance(values, Tensor):
        return values if dtype is None else values.to(dtype)
    return tensor(values, dtype=dtype or dtype_of_data(values))


def _indices(indices: Any) -> Tensor:
    return indices if isinstance(indices, Tensor) else tensor(indices, dtype=dtype_class.by_name["int64"])


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: dtype_class | None = None,
    device: Any = None,
    requires_grad: bool = False,
    is_coalesced: bool | None = None,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
    layout: Any = None,
) -> Tensor:
    if values is None:
        size = list(indices)
        indices = zeros(len(size), 0, dtype=dtype_class.by_name["int64"])
        values = zeros(0, dtype=dtype)
    parts = [_indices(indices), _values(values, dtype), None if size is None else list(size)]
    keywords = {"requires_grad": requires_grad, "is_coalesced": bool(is_coalesced)}
    return function("", "sparseCooTensor", parts, keywords)


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: dtype_class | None = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
    layout: Any = None,
) -> Tensor:
    parts = [_indices(crow_indices), _indices(col_indices), _values(values, dtype)]
    return function(
        "", "sparseCsrTensor", [*parts, None if size is None else list(size)], {"requires_grad": requires_grad}
    )


def sparse_compressed_tensor(*parts: Any, layout: Any, **keywords: Any) -> Tensor:
    check_layout(layout)
    return sparse_csr_tensor(*parts, **keywords)


def _validate_sparse_coo_tensor_args(indices: Tensor, values: Tensor, size: Any, *_: Any) -> None:
    """Making a tensor checks its parts."""
    sparse_coo_tensor(indices, values, size)


def _validate_sparse_compressed_tensor_args(
    compressed_indices: Tensor, plain_indices: Tensor, values: Tensor, size: Any, layout: Any
) -> None:
    """Making a tensor checks its parts."""
    sparse_compressed_tensor(compressed_indices, plain_indices, values, size, layout=layout)


def _sparse_broadcast_to(input: Tensor, size: Any) -> Tensor:
    return input.expand(list(size))


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Any, layout: Any = None) -> Tensor:
    check_layout(layout)
    if offsets.dtype is not dtype_class.by_name["int64"]:
        raise RuntimeError("offsets are int64")
    if layout not in (None, sparse_coo, sparse_csr):
        raise RuntimeError("the layout must be sparse")
    if offsets.ndim > 1:
        raise RuntimeError("offsets are a vector")
    made = function("sparse", "spdiags", [diagonals, offsets.tolist(), list(shape)])
    return made.to_sparse_csr() if layout is sparse_csr else made


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """edgegrad's gradcheck takes sparse tensors."""
    return gradcheck


sparse_csc_tensor = refused("sparse_csc_tensor")
sparse_bsr_tensor, sparse_bsc_tensor = refused("sparse_bsr_tensor"), refused("sparse_bsc_tensor")
