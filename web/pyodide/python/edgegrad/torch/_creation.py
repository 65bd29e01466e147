"""torch.tensor and the other functions that make tensors."""

from __future__ import annotations

import array
import builtins
from typing import Any, Callable, Sequence

from ._bridge import JsException, js, python_error, result
from ._calls import function, invoke
from ._declared import Declared, line_of
from ._host import create_proxy
from ._tensor import Tensor, wrap
from ._types import (
    PYTHON_DTYPES,
    bool_,
    check_layout,
    complex64,
    complex128,
    default_device,
    device as device_,
    dtype as dtype_,
    float32,
    float64,
    sparse_coo,
    int8,
    int16,
    int32,
    Size,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

_default: list[dtype_] = [float32]
_PLAIN = {builtins.int, builtins.float, builtins.bool, complex}
# The dtypes of the elements of buffers, by their codes.
_OF_CODE = {"f": float32, "d": float64, "b": int8, "h": int16, "i": int32, "l": int32, "L": uint32, "q": int64, "B": uint8, "H": uint16, "I": uint32, "Q": uint64, "?": bool_}


def set_default_dtype(d: dtype_) -> None:
    function("", "setDefaultDtype", [d])
    _default[0] = d


def get_default_dtype() -> dtype_:
    return _default[0]


def _gather(data: Any, flat: list, shape: list[int], depth: int) -> None:
    """Collects the elements of nested lists and their shape."""
    if isinstance(data, Tensor):
        data = data.tolist()
    elif hasattr(data, "__array__") and not isinstance(data, (list, tuple)):
        data = data.tolist()
    if not isinstance(data, (list, tuple, range)):
        if depth != len(shape):
            raise ValueError(f"expected a sequence of length {shape[depth]} at dim {depth}, got a {type(data).__name__}")
        flat.append(data)
        return
    if len(shape) == depth:
        if flat:
            raise ValueError(f"expected a number at dim {depth}, got a sequence")
        shape.append(len(data))
    elif shape[depth] != len(data):
        raise ValueError(f"expected sequence of length {shape[depth]} at dim {depth} (got {len(data)})")
    if data and depth + 1 >= len(shape) and all(type(one) in _PLAIN for one in data):
        if depth + 1 < len(shape):
            raise ValueError(f"expected a sequence at dim {depth + 1}, got a number")
        flat.extend(data)
        return
    for one in data:
        _gather(one, flat, shape, depth + 1)


def _kind_of(flat: list) -> dtype_:
    kinds = set(map(type, flat))
    if complex in kinds:
        return _default[0].to_complex() if _default[0].name in ("float16", "float64") else complex64
    if not flat or builtins.float in kinds:
        return _default[0]
    if kinds == {builtins.bool}:
        return bool_
    if kinds <= {builtins.bool, builtins.int}:
        return int64
    for one in flat:
        if not isinstance(one, (builtins.int, builtins.float)) and not hasattr(one, "__float__"):
            raise TypeError(f"a tensor's elements are numbers, got a {type(one).__name__}")
    return _default[0]


def from_elements(buffer: Any, kind: dtype_, shape: Sequence[int]) -> Tensor:
    """Makes a tensor of a buffer that has elements as `kind.code` says."""
    if kind.is_complex:
        wide = float64 if kind is complex128 else float32
        made: Tensor = function("", "viewAsComplex", [from_elements(buffer, wide, [*shape, 2])])
        return made if kind in (complex64, complex128) else made.to(kind)
    direct = kind if kind.code in "bhiqBHIQ" or kind in (float32, float64) else float32
    proxy = create_proxy(buffer)
    try:
        made = wrap(js.fromBuffer(proxy, direct.name, *shape))
    except JsException as error:
        raise python_error(error) from None
    finally:
        proxy.destroy()
    return made if direct is kind else made.to(kind)


def from_buffer(data: Any, dtype: dtype_ | None = None) -> Tensor:
    """A tensor with a copy of the elements of anything with the buffer protocol: an array, a memoryview, a numpy array."""
    if type(data).__module__ == "numpy":
        import numpy

        # In the machine's order of bytes, and with the dimensions that it has: ascontiguousarray() gives a scalar one.
        data = numpy.asarray(data, dtype=data.dtype.newbyteorder("="), order="C")
        if data.dtype.kind == "c":
            parts = data.view("f4" if data.dtype.itemsize == 8 else "f8").reshape(*data.shape, 2)
            return function("", "viewAsComplex", [from_buffer(parts)])
        if data.dtype == "float16":
            return from_buffer(data.astype("float32")).to(dtype or dtype_.all["float16"])
    view = memoryview(data)
    kind = _OF_CODE.get(view.format.lstrip("<=@") if view.format else "B")
    if kind is None:
        raise TypeError(f"a buffer of the format {view.format!r} is no tensor; convert it to one of {', '.join(_OF_CODE)}")
    if view.format in ("l", "L") and view.itemsize == 8:
        kind = int64 if view.format == "l" else uint64
    shape = list(view.shape or ())
    if not view.nbytes or not view.contiguous or view.readonly or view.format in ("<f", "<d", "<i", "<q", "?", "l", "L"):
        elements = array.array(kind.code)
        elements.frombytes(view.tobytes())
        view = memoryview(elements)
    made = from_elements(view, kind, shape)
    return made if dtype in (None, kind) else made.to(dtype)


def _is_buffer(data: Any) -> bool:
    if isinstance(data, (array.array, memoryview, bytes, bytearray)):
        return True
    return type(data).__module__ == "numpy" and hasattr(data, "__array_interface__")


def tensor(
    data: Any,
    *,
    dtype: dtype_ | None = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with a copy of data: numbers, nested lists, tensors, buffers."""
    if pin_memory:
        raise NotImplementedError("tensor(pin_memory=True): there is no such memory in a page")
    dtype = PYTHON_DTYPES.get(dtype, dtype)  # type: ignore[arg-type]
    if isinstance(data, Tensor):
        made = data.detach().clone()
        made = made if dtype is None else made.to(dtype)
    elif _is_buffer(data):
        made = from_buffer(data, dtype)
    else:
        made = _from_lists(data, dtype)
    # Of a tensor, the copy is where that is.
    if device is None and not isinstance(data, Tensor):
        device = default_device()
    if device is not None:
        made = made.to(device)
    return made.requires_grad_() if requires_grad else made


def _from_lists(data: Any, dtype: dtype_ | None) -> Tensor:
    flat: list = []
    shape: list[int] = []
    _gather(data, flat, shape, 0)
    kind = _kind_of(flat) if dtype is None else dtype
    if kind.kind == "c":
        flat = [part for z in map(complex, flat) for part in (z.real, z.imag)]
        return from_elements(array.array(kind.code, flat), kind, shape)
    if kind.kind == "f":
        return from_elements(array.array(kind.code, flat), kind, shape)
    if kind is bool_:
        return from_elements(array.array("B", map(builtins.bool, flat)), kind, shape)
    whole = flat if all(type(one) is builtins.int for one in flat) else list(map(builtins.int, flat))
    try:
        return from_elements(array.array(kind.code, whole), kind, shape)
    except OverflowError:
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow") from None


def as_tensor(data: Any, dtype: dtype_ | None = None, device: Any = None) -> Tensor:
    """A tensor itself if nothing has to change; otherwise tensor()."""
    if not isinstance(data, Tensor):
        return tensor(data, dtype=dtype, device=device)
    targets = [one for one in (dtype, device) if one is not None]
    return data.to(*targets) if targets else data


def asarray(obj: Any, *, dtype: dtype_ | None = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of a tensor, an array or a sequence. Arrays of Python are always copied: `copy=False` raises for them."""
    if copy is False and not isinstance(obj, Tensor):
        raise ValueError("asarray(copy=False): a tensor of edgegrad shares no memory with Python")
    if copy or not isinstance(obj, Tensor):
        return tensor(obj, dtype=dtype, device=device, requires_grad=requires_grad)
    return as_tensor(obj, dtype, device).detach().requires_grad_(requires_grad)


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor with a copy of a numpy array: the engine's memory is not Python's."""
    return from_buffer(ndarray)


def frombuffer(buffer: Any, *, dtype: dtype_, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    raw = memoryview(buffer).cast("B")[offset:]
    size = dtype.itemsize
    raw = raw[: (len(raw) // size if count < 0 else count) * size]
    elements = array.array(dtype.code)
    elements.frombytes(raw.tobytes())
    made = from_elements(elements, dtype, [len(elements) // (2 if dtype.is_complex else 1)])
    return made.requires_grad_() if requires_grad else made


def legacy_tensor(*args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """torch.Tensor(...): of sizes, uninitialized; of data, float32."""
    kind = dtype or _default[0]
    if not args:
        return empty(0, dtype=kind, device=device)
    first = args[0]
    if len(args) > 1 or isinstance(first, (builtins.int, Size)):
        return empty(*args, dtype=kind, device=device)
    if isinstance(first, Tensor):
        return first.to(kind).detach()
    return tensor(first, dtype=kind, device=device)


class LegacyType(type):
    """torch.FloatTensor and the like: makes tensors of a dtype, and is the class of those that have it."""

    dtype: dtype_

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        return legacy_tensor(*args, dtype=cls.dtype, device=device)

    def __instancecheck__(cls, value: Any) -> builtins.bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype


# The names that `x.type()` returns, without "Tensor".
LEGACY = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}


def set_default_tensor_type(t: Any) -> None:
    """Sets the default dtype by one of the old types."""
    set_default_dtype(getattr(t, "dtype", t))


def scalar_tensor(value: Any, **keywords: Any) -> Tensor:
    """A tensor without dimensions, of the default dtype."""
    keywords.setdefault("dtype", _default[0])
    return tensor(value, **keywords)


def empty_strided(size: Any, stride: Any, **keywords: Any) -> Tensor:
    """An uninitialized tensor with given strides."""
    count = 1 + builtins.sum((s - 1) * step for s, step in zip(size, stride)) if 0 not in size else 0
    requires_grad = keywords.pop("requires_grad", False)
    made = empty(count, **keywords).as_strided(list(size), list(stride))
    return made.requires_grad_() if requires_grad else made


def empty_permuted(size: Any, physical_layout: Any, **keywords: Any) -> Tensor:
    """An uninitialized tensor whose dimensions are stored in a given order."""
    order = list(physical_layout)
    made = empty([size[d] for d in order], **keywords)
    return made.permute([order.index(d) for d in builtins.range(len(order))])


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, **keywords: Any) -> Tensor:
    """Numbers of normal distributions: of tensors of means and deviations, or of a size."""
    return _made("normal", [mean, std] if size is None else [mean, std, sizes(size)], {}, keywords)


def _made(name: str, given: list, options: dict, keywords: dict) -> Tensor:
    """Calls a factory of JavaScript with PyTorch's keywords."""
    check_layout(keywords.pop("layout", None))
    if keywords.pop("pin_memory", False):
        raise NotImplementedError(f"{name}(pin_memory=True): there is no such memory in a page")
    keywords.pop("memory_format", None)
    if keywords.pop("out", None) is not None:
        raise NotImplementedError(f"{name}(out=...): edgegrad has no results that are written into a tensor; use out.copy_(result)")
    for key in ("dtype", "device", "requires_grad", "generator"):
        value = keywords.pop(key, None)
        if value is not None and value is not False:
            options[key] = device_(value) if key == "device" else getattr(value, "dtype", value) if key == "dtype" else value
    if default_device() is not None and not builtins.any(isinstance(one, Tensor) for one in given):
        options.setdefault("device", default_device())
    if keywords:
        raise TypeError(f"{name}() got an unexpected keyword argument '{next(iter(keywords))}'")
    return result(invoke("", name, given, options))


def sizes(given: Any) -> list[int]:
    """Returns sizes as integers, also where they are tensors or of numpy."""
    return [builtins.int(one) if isinstance(one, builtins.int) else one.__index__() for one in given]


def _factory(name: str) -> Callable[..., Tensor]:
    def make(*size: Any, **keywords: Any) -> Tensor:
        given = keywords.pop("size", None)
        if given is None:
            given = size[0] if len(size) == 1 and isinstance(size[0], (list, tuple)) else size
        if keywords.get("layout") is sparse_coo and name in ("zeros", "empty"):
            from .sparse import sparse_coo_tensor

            return sparse_coo_tensor(sizes(given), **keywords)
        return _made(name, [sizes(given)], {}, keywords)

    make.__name__ = make.__qualname__ = name
    return make


zeros, ones, empty, rand, randn = map(_factory, ("zeros", "ones", "empty", "rand", "randn"))


def full(size: Any, fill_value: Any, **keywords: Any) -> Tensor:
    if isinstance(fill_value, Tensor):
        fill_value = fill_value.item()
    if keywords.get("dtype") is None:
        kinds = {builtins.bool: bool_, builtins.int: int64, complex: complex64}
        keywords["dtype"] = kinds.get(type(fill_value), _default[0])
    given = [size] if isinstance(size, builtins.int) else size
    return _made("full", [sizes(given), fill_value], {}, keywords)


def full_like(input: Tensor, fill_value: Any, **keywords: Any) -> Tensor:
    keywords.setdefault("dtype", input.dtype)
    keywords.setdefault("device", input.device)
    return full(input.shape, fill_value, **keywords)


def arange(*args: Any, **keywords: Any) -> Tensor:
    given = [one.item() if isinstance(one, Tensor) else one for one in args]
    for place, key in enumerate(("start", "end", "step")):
        if key in keywords:
            if key == "end" and not given:
                given.append(0)
            while len(given) < place:
                given.append(1)
            given.append(keywords.pop(key))
    if keywords.get("dtype") is None:
        keywords["dtype"] = _default[0] if any(isinstance(one, builtins.float) for one in given) else int64
    return _made("arange", given, {}, keywords)


def randint(*args: Any, **keywords: Any) -> Tensor:
    given = {name: keywords.pop(name) for name in ("low", "high", "size") if name in keywords}
    names = [name for name in ("low", "high", "size") if name not in given]
    if len(args) + len(given) < 3 and "low" in names:
        # Without a lower bound, it is 0.
        names.remove("low")
    given.update(zip(names, args))
    low, high, size = given.get("low", 0), given["high"], given["size"]
    return _made("randint", [low, high, sizes(size)], {}, keywords)


def _numbered(name: str, names: tuple[str, ...]) -> Callable[..., Tensor]:
    """A factory whose arguments are numbers."""

    def make(*args: Any, **keywords: Any) -> Tensor:
        given = list(args)
        for place, key in enumerate(names):
            if key in keywords and place == len(given):
                given.append(keywords.pop(key))
        plain = [one.item() if isinstance(one, Tensor) else one for one in given]
        return _made(name, plain, {}, keywords)

    make.__name__ = make.__qualname__ = name
    return make


linspace = _numbered("linspace", ("start", "end", "steps"))
logspace = _numbered("logspace", ("start", "end", "steps", "base"))
eye = _numbered("eye", ("n", "m"))
randperm = _numbered("randperm", ("n",))


def like(name: str) -> Callable[..., Tensor]:
    """A function such as zeros_like."""
    line = line_of("", name)

    def make(input: Tensor, *args: Any, **keywords: Any) -> Tensor:
        given = Declared(name, line).bind((input, *args), {})[0] if line else [input, *args]
        return _made(name, given, {}, keywords)

    return make


zeros_like, ones_like, empty_like = like("zerosLike"), like("onesLike"), like("emptyLike")
rand_like, randn_like, randint_like = like("randLike"), like("randnLike"), like("randintLike")


def _new_of(name: str) -> Callable[..., Tensor]:
    make = globals()[name]

    def new(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
        if keywords.get("dtype") is None:
            keywords["dtype"] = self.dtype
        if keywords.get("device") is None:
            keywords["device"] = self.device
        return make(*args, **keywords)

    return new


for _name in ("zeros", "ones", "empty", "full", "tensor", "empty_strided"):
    setattr(Tensor, f"new_{_name}", _new_of(_name))
setattr(Tensor, "new", lambda self, *args, **keywords: legacy_tensor(*args, dtype=self.dtype))
