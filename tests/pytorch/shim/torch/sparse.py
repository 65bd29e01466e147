"""torch.sparse, and functions that make sparse tensors."""

from __future__ import annotations

import types
from typing import Any

from ._bridge import Unsupported, function
from ._creation import dtype_of_data, tensor
from ._functions import namespace
from ._tensor import Tensor
from ._types import dtype as dtype_class

__getattr__ = namespace("sparse")

# PyTorch's TestCase sets this before each test. edgegrad always checks.
check_sparse_tensor_invariants = types.SimpleNamespace(
    is_enabled=lambda: True, enable=lambda: None, disable=lambda: None
)


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
    if not isinstance(indices, Tensor) and values is None:
        raise Unsupported("missing: sparse tensors of a size alone")
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
