"""Functions that make tensors."""

from __future__ import annotations

import builtins
import numbers
import sys
from typing import Any, Callable, Sequence

from . import _bridge as bridge
from ._bridge import Unsupported, construct, function, method
from ._tensor import LEGACY_TYPES, Tensor
from ._types import (
    bool_,
    check_layout,
    complex32,
    complex64,
    complex128,
    device,
    dtype,
    float16,
    float32,
    float64,
    int64,
    sparse_coo,
    strided,
)

_default: list[dtype] = [float32]


def set_default_dtype(d: dtype) -> None:
    function("", "setDefaultDtype", [d])
    _default[0] = d


def get_default_dtype() -> dtype:
    return _default[0]


def set_default_tensor_type(t: Any) -> None:
    set_default_dtype(getattr(t, "_tensor_dtype", t))


def forget_default_dtype() -> None:
    """What a new process begins with."""
    _default[0] = float32


class Generator(bridge.JSObject):
    """torch.Generator of the CPU."""

    device = device("cpu")

    def __init__(self, device: Any = None) -> None:
        if self._id is None:
            bridge.adopt(self, construct("Generator"))

    def manual_seed(self, seed: int) -> Generator:
        method(self, "manualSeed", [seed])
        return self


bridge.classes["generator"] = Generator


def _kinds(data: Any) -> set[str]:
    """Returns the kinds of the numbers in nested lists."""
    if isinstance(data, (list, tuple)):
        return set().union(*[_kinds(one) for one in data])
    if isinstance(data, Tensor):
        return {data.dtype.kind}
    if isinstance(data, builtins.bool) or type(data).__name__ == "bool_":
        return {"b"}
    if isinstance(data, numbers.Integral):
        return {"i"}
    return {"c"} if isinstance(data, builtins.complex) else {"f"}


def dtype_of_data(data: Any) -> dtype:
    """Returns the dtype that PyTorch gives to numbers in nested lists."""
    kinds = _kinds(data)
    if "c" in kinds:
        return {float64: complex128, float16: complex32}.get(_default[0], complex64)
    if "f" in kinds or not kinds:
        return _default[0]
    return int64 if "i" in kinds else bool_


def _plain(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data.tolist()
    return [_plain(one) for one in data] if isinstance(data, (list, tuple, range)) else data


def tensor(
    data: Any,
    *,
    dtype: dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    if isinstance(data, Tensor):
        made = data.detach().clone()
        made = made if dtype is None else made.to(dtype)
        return made.requires_grad_() if requires_grad else made
    if type(data).__module__ == "numpy":
        given = dtype or _dtype_of_numpy(data)
        flat = function("", "tensor", [data.reshape(-1).tolist()], {"dtype": given})
        return flat.reshape(list(data.shape)).requires_grad_(requires_grad)
    keywords = _options(dtype=dtype or dtype_of_data(data), device=device, requires_grad=requires_grad)
    return function("", "tensor", [_plain(data)], keywords)


def _dtype_of_numpy(data: Any) -> dtype:
    found = dtype.by_name.get(str(data.dtype))
    if found is None:
        raise TypeError(f"can't convert np.ndarray of type {data.dtype}")
    return found


def as_tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Tensor:
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype is dtype else data.to(dtype)
    return tensor(data, dtype=dtype, device=device)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: Any = None, requires_grad: bool = False
) -> Tensor:
    if copy is False or (type(obj).__module__ == "numpy" and not copy):
        raise Unsupported("n/a: tensors that share memory with Python")
    if copy or not isinstance(obj, Tensor):
        return tensor(obj, dtype=dtype, requires_grad=requires_grad)
    return as_tensor(obj, dtype).detach().requires_grad_(requires_grad)


def from_numpy(array: Any) -> Tensor:
    """A copy: JavaScript's memory cannot be shared."""
    return tensor(array)


def scalar_tensor(value: Any, **keywords: Any) -> Tensor:
    keywords.setdefault("dtype", _default[0])
    return tensor(value, **keywords)


def _sizes(size: Sequence[Any]) -> list[int]:
    if len(size) == 1 and isinstance(size[0], (list, tuple)):
        size = size[0]
    return [one.__index__() for one in size]


def _options(requires_grad: bool = False, device: Any = None, **rest: Any) -> dict:
    """Returns the options of a factory, without those that have their defaults."""
    kept = {key: value for key, value in rest.items() if value is not None}
    if device is not None:
        kept["device"] = globals()["device"](device)
    return {**kept, "requires_grad": True} if requires_grad else kept


def _factory(name: str) -> Callable:
    def make(*size: Any, **keywords: Any) -> Tensor:
        given = keywords.pop("size", None)
        layout = keywords.pop("layout", None)
        if layout not in (None, strided):
            return _without_values(_sizes(size if given is None else (given,)), layout, **keywords)
        return function("", name, [_sizes(size if given is None else (given,))], _options(**keywords))

    make.__name__ = name
    return make


def _without_values(size: list, layout: Any, **keywords: Any) -> Tensor:
    """What zeros() and empty() make in a sparse layout."""
    if layout is sparse_coo:
        return sys.modules["torch"].sparse_coo_tensor(size, **keywords)
    check_layout(layout)
    raise Unsupported(f"missing: the option layout={layout.name}")


zeros, ones, empty, rand, randn = map(_factory, ("zeros", "ones", "empty", "rand", "randn"))


def _in_layout(input: Tensor, layout: Any) -> Tensor:
    check_layout(layout)
    return input.detach().to_sparse(layout=layout)


def _like(name: str) -> Callable:
    def make(input: Tensor, *args: Any, layout: Any = None, **keywords: Any) -> Tensor:
        given = input if layout in (None, input.layout) else _in_layout(input, layout)
        return function("", name, [given, *args], _options(**keywords))

    return make


zeros_like, ones_like, empty_like = map(_like, ("zerosLike", "onesLike", "emptyLike"))
rand_like, randn_like, full_like = map(_like, ("randLike", "randnLike", "fullLike"))


def full(size: Any, fill_value: Any, *, dtype: dtype | None = None, **keywords: Any) -> Tensor:
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    keywords = _options(dtype=dtype or dtype_of_data(fill_value), **keywords)
    return function("", "full", [_sizes([size]) if isinstance(size, (list, tuple)) else [size], value], keywords)


def empty_strided(size: Any, stride: Any, **keywords: Any) -> Tensor:
    count = 1 + builtins.sum((s - 1) * step for s, step in zip(size, stride)) if 0 not in size else 0
    return function("", "empty", [[count]], _options(**keywords)).as_strided(size, stride)


def empty_permuted(size: Any, physical_layout: Any, **keywords: Any) -> Tensor:
    made = empty([size[d] for d in physical_layout], **keywords)
    return made.permute([list(physical_layout).index(d) for d in range(len(size))])


def arange(*args: Any, dtype: dtype | None = None, **keywords: Any) -> Tensor:
    if "start" in keywords:
        args = (keywords.pop("start"), *args)
    for name in ("end", "step"):
        if name in keywords:
            args = (*args, keywords.pop(name))
    args = tuple(one.item() if isinstance(one, Tensor) else one for one in args)
    if dtype is None:
        found = dtype_of_data(args)
        dtype = int64 if found is bool_ else found
    return function("", "arange", args, _options(dtype=dtype, **keywords))


def range_(*_: Any, **__: Any) -> Tensor:
    raise Unsupported("missing: torch.range")


def linspace(start: Any, end: Any, steps: Any = None, **keywords: Any) -> Tensor:
    return function("", "linspace", [start, end, steps], _options(**keywords))


def logspace(start: Any, end: Any, steps: Any = None, base: float = 10.0, **keywords: Any) -> Tensor:
    return function("", "logspace", [start, end, steps, base], _options(**keywords))


def eye(*n: Any, **keywords: Any) -> Tensor:
    sizes = [*n, *[keywords.pop(key) for key in ("n", "m") if key in keywords]]
    return function("", "eye", sizes, _options(**keywords))


def randint(*args: Any, size: Any = None, dtype: Any = None, **keywords: Any) -> Tensor:
    low = [keywords.pop("low")] if "low" in keywords else []
    high = [keywords.pop("high")] if "high" in keywords else []
    given = [*low, *args[:1], *high, *args[1:], *([] if size is None else [size])]
    bounds = given if len(given) == 3 else [0, *given]
    return function("", "randint", [bounds[0], bounds[1], _sizes([bounds[2]])], _options(dtype=dtype, **keywords))


def randint_like(input: Tensor, *args: Any, **keywords: Any) -> Tensor:
    return randint(*args, size=input.shape, dtype=keywords.pop("dtype", input.dtype), **keywords)


def randperm(n: int, **keywords: Any) -> Tensor:
    return function("", "randperm", [n], _options(**keywords))


def normal(*args: Any, **keywords: Any) -> Tensor:
    names = ("mean", "std", "size")
    given = {**{"mean": 0.0, "std": 1.0}, **dict(zip(names, args))}
    given.update({name: keywords.pop(name) for name in names if name in keywords})
    size = [list(given["size"])] if given.get("size") is not None else []
    return function("", "normal", [given["mean"], given["std"], *size], _options(**keywords))


def complex(real: Tensor, imag: Tensor) -> Tensor:
    return function("", "complex", [real, imag])


def _legacy_tensor(args: Sequence[Any], d: dtype) -> Tensor:
    """What `torch.FloatTensor(...)` and `torch.Tensor(...)` make: of sizes, of data, or empty."""
    if not args:
        return empty(0, dtype=d)
    (first, *rest) = args
    if not rest and isinstance(first, Tensor):
        return first.to(d).detach()
    if not rest and type(first).__name__ != "Size" and not isinstance(first, numbers.Integral):
        return tensor(first, dtype=d)
    return empty(*args, dtype=d)


class _LegacyType(type):
    def __instancecheck__(cls, value: Any) -> builtins.bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype

    def __call__(cls, *args: Any, **_: Any) -> Tensor:
        return _legacy_tensor(args, cls.dtype)


LEGACY = {
    f"{name}Tensor": _LegacyType(f"{name}Tensor", (), {"dtype": dtype.by_name[d], "_tensor_dtype": dtype.by_name[d]})
    for name, d in LEGACY_TYPES.items()
}
