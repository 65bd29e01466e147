"""Methods of Tensor that make Python's or other tensors of it, and those whose arguments differ in JavaScript."""

from __future__ import annotations

import builtins
from typing import Any, Callable

from .. import _bridge as bridge
from .._bridge import camel, function, method
from .._types import dtype as Dtype
from .names import tuple_with, with_fields
from .tensor import CONVERSIONS, LEGACY_TYPES, Tensor, as_operand, torch


def _typed(kind: str, value: Any) -> Any:
    """Gives numbers from JavaScript the type in Python that the dtype has."""
    if isinstance(value, tuple):
        return [_typed(kind, one) for one in value]
    return {"f": float, "c": complex}.get(kind, lambda one: one)(value)


def item(self: Tensor) -> Any:
    return _typed(self.dtype.kind, method(self, "item"))


def tolist(self: Tensor) -> Any:
    return _typed(self.dtype.kind, method(self, "arraySync"))


def numpy(self: Tensor, force: bool = False) -> Any:
    """A copy: JavaScript's memory cannot be shared."""
    import numpy

    if self.requires_grad and torch().is_grad_enabled() and not force:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if self.dtype.name == "bfloat16":
        raise TypeError("Got unsupported ScalarType BFloat16")
    return numpy.array(self.tolist(), dtype=self.dtype.name).reshape(self.shape)


def _array(self: Tensor, dtype: Any = None) -> Any:
    made = self.numpy()
    return made if dtype is None else made.astype(dtype)


def _index_number(self: Tensor) -> int:
    if self.dtype.kind not in "ib" or self.numel() != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.item())


def _length(self: Tensor) -> int:
    shape = self.shape
    if not shape:
        raise TypeError("len() of a 0-d tensor")
    return shape[0]


def _iterate(self: Tensor) -> Any:
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(method(self, "unbind", [0]))


def _format(self: Tensor, spec: str) -> str:
    return self.item().__format__(spec) if self.ndim == 0 else object.__format__(self, spec)


def _deepcopy(self: Tensor, memo: dict) -> Tensor:
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment."
        )
    with torch().no_grad():
        made = self.detach().clone()
    if self._is_param:
        made = type(self)(made, self.requires_grad)
    else:
        made.requires_grad_(self.requires_grad)
    if self.grad is not None:
        made.grad = _deepcopy(self.grad, memo)
    memo[id(self)] = made
    return made


def _indices(at: Any) -> list:
    """Returns the arguments of `at()` for what is in brackets."""
    is_sequence = isinstance(at, list) and len(at) < 32
    if is_sequence and any(isinstance(x, (list, tuple, slice, Tensor)) or x in (None, ...) for x in at):
        at = tuple(at)
    return [_one_index(x) for x in (at if isinstance(at, tuple) else (at,))]


def _one_index(at: Any) -> Any:
    return [_one_index(x) for x in at] if isinstance(at, (list, tuple, range)) else at


def _set_item(self: Tensor, at: Any, value: Any) -> None:
    method(self, "set_", [_indices(at), as_operand(self, value)])


def to(self: Tensor, *args: Any, copy: bool = False, **keywords: Any) -> Tensor:
    given = [one.dtype if isinstance(one, Tensor) else one for one in args if not isinstance(one, bool)]
    given += [keywords[key] for key in ("device", "dtype") if keywords.get(key) is not None]
    other = keywords.get("other")
    given += [] if other is None else [other.dtype]
    made = method(self, "to", given) if given else self
    return made.clone() if copy and made is self else made


def type_(self: Tensor, dtype: Any = None, **_: Any) -> Any:
    if dtype is None:
        found = [name for name, own in LEGACY_TYPES.items() if own == self.dtype.name]
        return f"torch.{found[0]}Tensor"
    if isinstance(dtype, str):
        dtype = Dtype.by_name[LEGACY_TYPES[dtype.removeprefix("torch.").removesuffix("Tensor")]]
    return method(self, "to", [getattr(dtype, "_tensor_dtype", dtype)])


def _convert(dtype: Dtype) -> Callable:
    return lambda self, **_: method(self, "to", [dtype])


def new_tensor(self: Tensor, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    return torch().tensor(data, dtype=dtype or self.dtype, requires_grad=requires_grad)


def _new(name: str) -> Callable:
    def make(self: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False, **keywords: Any) -> Tensor:
        given = size if keywords.get("size") is None else (keywords["size"],)
        sizes = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
        options = {"dtype": dtype} if dtype is not None else {}
        made = method(self, camel(name), [[one.__index__() for one in sizes]], options)
        return made.requires_grad_() if requires_grad else made

    return make


def new_full(self: Tensor, size: Any, fill_value: Any, dtype: Any = None, **keywords: Any) -> Tensor:
    keywords.pop("device", None)
    return torch().full(size, fill_value, dtype=dtype or self.dtype, **keywords)


def new_empty_strided(self: Tensor, size: Any, stride: Any, dtype: Any = None, **keywords: Any) -> Tensor:
    keywords.pop("device", None)
    return torch().empty_strided(size, stride, dtype=dtype or self.dtype, **keywords)


def new(self: Tensor, *args: Any, **_: Any) -> Tensor:
    return torch()._legacy_tensor(args, self.dtype)


def allclose(
    self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    keywords = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan}
    return function("", "allclose", [self, other], keywords)


def split(self: Tensor, split_size: Any, dim: int = 0) -> Any:
    name = "splitWithSizes" if isinstance(split_size, (list, tuple)) else "split"
    return method(self, name, [split_size, dim])


def apply_(self: Tensor, fn: Callable) -> Tensor:
    made = [fn(x) for x in self.reshape(-1).tolist()]
    return self.copy_(torch().tensor(made, dtype=self.dtype).reshape(self.shape))


def map_(self: Tensor, other: Tensor, fn: Callable) -> Tensor:
    pairs = zip(self.reshape(-1).tolist(), other.reshape(-1).tolist())
    made = torch().tensor([fn(x, y) for x, y in pairs], dtype=self.dtype)
    return self.copy_(made.reshape(self.shape))


def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    return function("", "luSolve", [LU_data, LU_pivots, self])


def lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    return torch().lu(self, pivot, get_infos)


def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """On a tensor of the dtype that the result has, the only ones that PyTorch allows, it is pow_()."""
    is_complex = isinstance(exponent, complex) or (isinstance(exponent, Tensor) and exponent.dtype.is_complex)
    needed = "complex128" if is_complex or self.dtype.is_complex else "float64"
    if self.dtype.name != needed:
        raise RuntimeError(f"the operation's result requires dtype {needed}, but the tensor has {self.dtype}")
    bridge.emulated.add("float_power_")
    return method(self, "pow_", [exponent])


def diagonal(self: Tensor, offset: Any = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    return method(self, "diagonal", [int(offset), dim1, dim2])


def narrow(self: Tensor, dim: int, start: Any, length: Any) -> Tensor:
    return method(self, "narrow", [dim, int(start), int(length)])


def reshape(self: Tensor, *shape: Any, **keywords: Any) -> Tensor:
    shape = keywords.get("shape", shape)
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        shape = shape[0]
    return method(self, "reshape", [[x if type(x) is int else int(x) for x in shape]])


def svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    u, s, vh = method(self, "svd", [], {"full_matrices": not some})
    return tuple_with("svd", ("U", "S", "V"))((u, s, vh.mH))


def nonzero(self: Tensor, as_tuple: bool = False) -> Any:
    found = method(self, "nonzero")
    if not as_tuple:
        return found
    if self.ndim == 0:
        return (torch().zeros(found.shape[0], dtype=torch().int64),)
    return tuple(found.unbind(1))


def _with_correction(name: str) -> Callable:
    """std and var, whose `unbiased=` edgegrad does not have."""

    def call(self: Tensor, *args: Any, **keywords: Any) -> Any:
        given = list(args)
        if given and isinstance(given[0], builtins.bool):
            keywords["unbiased"] = given.pop(0)
        elif len(given) > 1 and isinstance(given[1], builtins.bool):
            keywords["unbiased"] = given.pop(1)
            if len(given) > 1:
                keywords["keepdim"] = given.pop(1)
        if "unbiased" in keywords:
            bridge.emulated.add("unbiased=")
            keywords["correction"] = 1 if keywords.pop("unbiased") else 0
        return with_fields(name, method(self, camel(name), given, keywords))

    return call


_PLAIN = (
    item, tolist, numpy, to, new_tensor, new_empty_strided, new_full, new, allclose, split, apply_, map_, lu, lu_solve, float_power_, diagonal, narrow, reshape, svd, nonzero
)  # fmt: skip
for _function in _PLAIN:
    setattr(Tensor, _function.__name__, _function)
for _name, _dtype in CONVERSIONS.items():
    setattr(Tensor, _name, _convert(_dtype))
for _name in ("new_zeros", "new_ones", "new_empty"):
    setattr(Tensor, _name, _new(_name))
for _name in ("std", "var", "std_mean", "var_mean"):
    setattr(Tensor, _name, _with_correction(_name))

Tensor.type = type_
Tensor.type_as = lambda self, other: method(self, "to", [other.dtype])
Tensor.cpu = lambda self, *_, **__: self
Tensor.expand = lambda self, *size, **keywords: method(self, "expand", keywords.get("size", size))
Tensor.permute = lambda self, *dims, **keywords: method(self, "permute", dims, keywords)
Tensor.equal = lambda self, other: function("", "equal", [self, other])
Tensor.where = lambda self, condition, other: function("", "where", [condition, self, as_operand(self, other)])
Tensor.fill_ = lambda self, value: method(self, "fill_", [value])
Tensor.__array__ = _array
# NumPy leaves operators with its arrays to Tensor.
Tensor.__array_priority__ = 1000
Tensor.__bool__ = lambda self: builtins.bool(self.item())
Tensor.__int__ = lambda self: int(self.item())
Tensor.__float__ = lambda self: float(self.item())
Tensor.__complex__ = lambda self: complex(self.item())
Tensor.__index__ = _index_number
Tensor.__len__ = _length
Tensor.__iter__ = _iterate
Tensor.__contains__ = lambda self, x: builtins.bool((self == x).any())
Tensor.__hash__ = lambda self: id(self)
Tensor.__repr__ = Tensor.__str__ = lambda self, **_: method(self, "toString")
Tensor.__format__ = _format
Tensor.__deepcopy__ = _deepcopy
Tensor.__getitem__ = lambda self, at: method(self, "at", _indices(at))
Tensor.__setitem__ = _set_item
