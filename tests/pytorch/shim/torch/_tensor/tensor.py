"""torch.Tensor: a tensor of edgegrad, whose methods are found by their names."""

from __future__ import annotations

import builtins
import sys
import types
from typing import Any, Callable

from .. import _bridge as bridge
from .._bridge import JSObject, Unsupported, camel, function, get, method, set_property
from .._types import ALIASES as DTYPE_ALIASES
from .._types import LAYOUTS, Size, device, dtype, uint8
from .names import ALIASES, MISSING_METHODS, TAKES_SCALARS, with_fields


def torch() -> Any:
    """The package itself, which imports this file."""
    return sys.modules["torch"]


def js_name(name: str) -> str:
    """Returns edgegrad's name of a method or function."""
    return ALIASES.get(name) or camel(name)


def as_operand(like: Tensor, value: Any) -> Any:
    """Returns a Python number as operand next to a tensor. JavaScript has no 2.0 that differs from 2, so next to integers that is a tensor."""
    if type(value) is float and value.is_integer() and like.dtype.kind in "bi":
        return torch().tensor(value)
    return torch().tensor(value) if type(value).__name__ == "ndarray" else value


class _TensorType(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        js = js_name(name)
        if name not in MISSING_METHODS and js not in bridge.names["tensor"] | bridge.names["root"]:
            raise AttributeError(f"type object 'Tensor' has no attribute '{name}'")

        if name not in _UNBOUND:
            _UNBOUND[name] = _unbound(name)
        return _UNBOUND[name]


# Tests compare these functions by `is`.
_UNBOUND: dict[str, Callable] = {}


def _unbound(name: str) -> Callable:
    def call(self: Tensor, *args: Any, **keywords: Any) -> Any:
        return getattr(self, name)(*args, **keywords)

    call.__name__ = name
    return call


class Tensor(JSObject, metaclass=_TensorType):
    """A tensor; operators.py has its operators, conversions.py what makes others of it."""

    _is_param = False
    is_cuda = is_quantized = is_mkldnn = is_nested = is_meta = is_mps = False
    is_xpu = is_cpu_only = is_xla = is_vulkan = is_ipu = is_maia = False
    is_cpu = True

    def __new__(cls, *args: Any, **keywords: Any) -> Tensor:
        return object.__new__(cls)

    def __init__(self, *args: Any, **keywords: Any) -> None:
        if self._id is None:
            made = torch()._legacy_tensor(args, torch().get_default_dtype())
            bridge.adopt(self, made)

    def become(self, other: Tensor) -> None:
        """Stands for the tensor of `other` from now on, which is to be used no more."""
        bridge.channel.release(self._id)
        bridge.live.pop(self._id, None)
        bridge.adopt(self, other)
        self.__dict__["_facts"] = other.__dict__["_facts"]

    shape = property(lambda self: Size(get(self, "shape")))
    ndim = property(lambda self: get(self, "ndim"))
    device = property(lambda self: device(self._fact(1, "device")))
    layout = property(lambda self: LAYOUTS[self._fact(2, "layout")])
    is_leaf = property(lambda self: get(self, "isLeaf"))
    grad_fn = property(lambda self: get(self, "gradFn"))
    output_nr = property(lambda self: get(self, "outputNr"))
    retains_grad = property(lambda self: get(self, "retainsGrad"))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.dtype.itemsize * self.numel())
    names = property(lambda self: (None,) * self.ndim)
    _version = property(lambda self: get(self, "version"))
    _base = property(lambda self: get(self, "base"))
    mT = property(lambda self: get(self, "mT"))
    H = property(lambda self: get(self, "H"))
    mH = property(lambda self: get(self, "mH"))

    @property
    def dtype(self) -> dtype:
        return dtype.by_name[self._fact(0, "dtype")]

    def _fact(self, index: int, name: str) -> str:
        """What a tensor keeps as long as it lives; it comes with the tensor."""
        facts = self.__dict__.get("_facts")
        return get(self, name) if facts is None else facts[index]

    @property
    def T(self) -> Tensor:
        if self.ndim <= 2:
            return get(self, "T")
        bridge.emulated.add(".T of more dimensions")
        return method(self, "permute", [list(range(self.ndim))[::-1]])

    @property
    def real(self) -> Tensor:
        return method(self, "real")

    @real.setter
    def real(self, value: Any) -> None:
        self.real.copy_(value)

    @property
    def imag(self) -> Tensor:
        return method(self, "imag")

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag.copy_(value)

    @property
    def grad(self) -> Tensor | None:
        return get(self, "grad")

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        set_property(self, "grad", value)

    @grad.deleter
    def grad(self) -> None:
        set_property(self, "grad", None)

    _grad = grad

    @property
    def requires_grad(self) -> bool:
        return get(self, "requiresGrad")

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        set_property(self, "requiresGrad", builtins.bool(value))

    @property
    def data(self) -> Tensor:
        return method(self, "detach")

    @data.setter
    def data(self, value: Tensor) -> None:
        if value.shape != self.shape or value.dtype is not self.dtype:
            raise Unsupported("missing: x.data = tensor of another shape or dtype")
        with torch().no_grad():
            method(self, "copy_", [value])

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("cannot delete data")

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else method(self, "size", [dim])

    def stride(self, dim: int | None = None) -> Any:
        strides = get(self, "strides")
        return strides if dim is None else strides[dim]

    def dim(self) -> int:
        return get(self, "ndim")

    def numel(self) -> int:
        return get(self, "numel")

    ndimension, nelement = dim, numel

    def storage_offset(self) -> int:
        return get(self, "offset")

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return get(self, "isContiguous")

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    def element_size(self) -> int:
        return self.dtype.itemsize

    def is_inference(self) -> bool:
        return get(self, "isInference")

    def _is_view(self) -> bool:
        return get(self, "isView")

    def is_conj(self) -> bool:
        return False

    is_neg = _is_zerotensor = is_conj

    def resolve_conj(self) -> Tensor:
        return self

    resolve_neg = resolve_conj

    def get_device(self) -> int:
        return -1

    def is_same_size(self, other: Tensor) -> bool:
        return self.shape == other.shape

    def data_ptr(self) -> int:
        """A number that is the same for the same element of the same base."""
        base = self._base
        owner = (self if base is None else base)._id
        return (owner << 32) + (get(self, "offset") * self.itemsize if self.numel() else 0)

    def untyped_storage(self) -> Any:
        """The storage, which is only good to be compared."""
        base = self._base
        owner = self if base is None else base

        def unknown(*_: Any) -> Any:
            raise Unsupported("missing: storages")

        members = {name: unknown for name in ("nbytes", "size", "resize_", "__len__")}
        return types.SimpleNamespace(data_ptr=lambda: owner._id << 32, _cdata=owner._id, **members)

    storage = _typed_storage = untyped_storage

    def backward(
        self, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        keywords = {"retain_graph": retain_graph, "create_graph": create_graph or None}
        if inputs is not None:
            keywords["inputs"] = list(inputs) if isinstance(inputs, (list, tuple)) else inputs
        given = {key: value for key, value in keywords.items() if value is not None}
        method(self, "backward", [gradient], given)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        return method(self, "requiresGrad_", [requires_grad])

    def register_hook(self, hook: Any) -> Any:
        return method(self, "registerHook", [hook])

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        return method(self, "registerPostAccumulateGradHook", [hook])

    def retain_grad(self) -> None:
        method(self, "retainGrad")

    @classmethod
    def __torch_function__(cls, *_: Any) -> Any:
        raise Unsupported("n/a: __torch_function__")

    def as_subclass(self, cls: type) -> Any:
        raise Unsupported("n/a: subclasses of Tensor")

    def dim_order(self) -> Any:
        raise Unsupported("n/a: memory formats")

    def set_(self, source: Any = None, *rest: Any, **keywords: Any) -> Any:
        """With a tensor that a test uses nowhere else: this one is another handle of it."""
        if rest or keywords or not isinstance(source, Tensor) or self.requires_grad:
            raise Unsupported("missing: set_")
        bridge.emulated.add("set_")
        self.become(method(source, "clone"))
        return self

    def resize_(self, *_: Any, **__: Any) -> Any:
        raise Unsupported("missing: resize_")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise Unsupported("n/a: pickle")

    def __setattr__(self, name: str, value: Any) -> None:
        member = getattr(type(self), name, None)
        if isinstance(member, property):
            member.__set__(self, value)
        else:
            self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        js = js_name(name)
        if js in bridge.names["tensor"]:
            return _bound(self, js)
        if js in bridge.names["root"]:
            return lambda *args, **kw: with_fields(js, function("", js, (self, *args), kw))
        for space in ("linalg", "special"):
            if js in bridge.names["spaces"][space]:
                return lambda *args, **kw: with_fields(js, function(space, js, (self, *args), kw))
        if name in MISSING_METHODS:
            raise Unsupported(f"missing: Tensor.{name}")
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")


def _bound(self: Tensor, js: str) -> Any:
    def call(*args: Any, **keywords: Any) -> Any:
        if js.rstrip("_") in TAKES_SCALARS:
            args = tuple([as_operand(self, one) for one in args])
            if isinstance(keywords.get("alpha"), builtins.bool):
                keywords["alpha"] = int(keywords["alpha"])
        return with_fields(js, method(self, js, args, keywords))

    return call


class Parameter(Tensor):
    """nn.Parameter."""

    _is_param = True

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if self._id is not None:
            return
        data = torch().empty(0) if data is None else data
        keywords = {} if requires_grad else {"requires_grad": False}
        bridge.adopt(self, bridge.construct("nn.Parameter", [data], keywords))

    def __repr__(self) -> str:
        return f"Parameter containing:\n{method(self, 'toString')}"


class Buffer(Tensor):
    """nn.Buffer."""

    def __init__(self, data: Any = None, persistent: bool = True) -> None:
        if self._id is None:
            data = torch().empty(0) if data is None else data
            made = bridge.construct("nn.Buffer", [data], {"persistent": persistent})
            bridge.adopt(self, made)


class UninitializedParameter(Parameter):
    """nn.UninitializedParameter."""

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        _adopt_uninitialized(self, {"requires_grad": requires_grad}, device, dtype)

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        _materialize(self, shape, device, dtype)

    def __repr__(self) -> str:
        return method(self, "toString")


class UninitializedBuffer(Buffer):
    """nn.UninitializedBuffer."""

    def __init__(
        self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> None:
        _adopt_uninitialized(self, {"requires_grad": requires_grad, "persistent": persistent}, device, dtype)

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        _materialize(self, shape, device, dtype)

    def __repr__(self) -> str:
        return method(self, "toString")


def _kind(device: Any, dtype: Any) -> dict:
    return {name: one for name, one in (("device", device), ("dtype", dtype)) if one is not None}


def _adopt_uninitialized(made: Tensor, options: dict, device: Any, dtype: Any) -> None:
    if made._id is None:
        path = f"nn.{type(made).__name__}"
        bridge.adopt(made, bridge.construct(path, [], {**options, **_kind(device, dtype)}))


def _materialize(tensor: Tensor, shape: Any, device: Any, dtype: Any) -> None:
    method(tensor, "materialize", [shape], _kind(device, dtype))
    object.__setattr__(tensor, "__class__", type(tensor).__bases__[0])
    tensor.__dict__.pop("_facts", None)


bridge.tensor_classes[:] = [Tensor, Parameter, Buffer, UninitializedParameter, UninitializedBuffer]

# The dtype of a tensor made by one of PyTorch's old constructors, by the name that `x.type()` returns.
LEGACY_TYPES = {
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
CONVERSIONS = {**DTYPE_ALIASES, "bfloat16": dtype.by_name["bfloat16"], "byte": uint8, "char": dtype.by_name["int8"]}
