"""torch.Tensor: a number that names a tensor of the engine."""

from __future__ import annotations

import builtins
from weakref import ref
from typing import Any, Callable, Iterator

from . import _bridge as bridge
from ._bridge import Held, JsException, js, live as _live, numbers, python_error
from ._calls import function, invoke, js_name, read
from ._declared import declared_function
from ._types import Size, check_format, device, dtype, strided, sparse_coo, sparse_csr

_new = object.__new__
_shape, _value = js.shape, js.value


class _Meta(type):
    """Makes methods when they are first looked up, on the class as well: `torch.Tensor.relu`."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = declared_function("Tensor", js_name(name)) or _function_as_method(name)
        if made is None:
            raise AttributeError(f"'Tensor' object has no attribute '{name}' (edgegrad does not have it)")
        setattr(Tensor, name, made)
        return made


def _function_as_method(name: str) -> Callable | None:
    """A function of torch that PyTorch also has as a method."""
    if name.startswith("_"):
        return None
    from . import _functions

    return _functions.find(name)


class Tensor(Held, metaclass=_Meta):
    """An n-dimensional array that can record how it was computed."""

    __slots__ = ()
    __hash__ = object.__hash__
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        if cls is not Tensor:
            return _new(cls)
        from ._creation import legacy_tensor

        return legacy_tensor(*args, **keywords)

    # Properties

    @property
    def shape(self) -> Size:
        found = self.__dict__.get("_shape")
        if found is None:
            count = _shape(self.h)
            found = self.__dict__["_shape"] = Size(map(builtins.int, numbers[:count]))
        return found

    @property
    def data(self) -> Tensor:
        return self.detach()

    @data.setter
    def data(self, value: Tensor) -> None:
        from ._parameter import set_data

        set_data(self, value)

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("x.data cannot be deleted")

    @property
    def requires_grad(self) -> builtins.bool:
        return js.property(self.h, "requiresGrad")

    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None:
        self.requires_grad_(value)

    @property
    def grad(self) -> Tensor | None:
        handle = js.grad(self.h)
        known = self.__dict__.get("_grad")
        if handle < 0:
            self.__dict__.pop("_grad", None)
            return None
        if known is not None and known.h == handle:
            # The same object as before: one of the two counts is too many.
            bridge.release(handle)
            return known
        made = self.__dict__["_grad"] = wrap(handle)
        return made

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"x.grad = value: expected a tensor or None, got a {type(value).__name__}")
        self.__dict__.pop("_grad", None)
        try:
            js.setGrad(self.h, -1 if value is None else value.h)
        except JsException as error:
            raise python_error(error) from None

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    ndim = property(lambda self: len(self.shape))
    dtype = property(lambda self: dtype.all[js.property(self.h, "dtype")])
    device = property(lambda self: device(js.property(self.h, "device")))
    is_leaf = property(lambda self: js.property(self.h, "isLeaf"))
    retains_grad = property(lambda self: js.property(self.h, "retainsGrad"))
    output_nr = property(lambda self: js.property(self.h, "outputNr"))
    is_sparse = property(lambda self: js.property(self.h, "layout") == "sparse_coo")
    is_sparse_csr = property(lambda self: js.property(self.h, "layout") == "sparse_csr")
    grad_fn = property(lambda self: read(self, "gradFn"))
    _version = property(lambda self: js.property(self.h, "version"))
    _base = property(lambda self: read(self, "base"))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.numel() * self.dtype.itemsize)
    layout = property(lambda self: {"strided": strided, "sparse_coo": sparse_coo}.get(js.property(self.h, "layout"), sparse_csr))
    is_cuda = is_quantized = is_nested = is_mps = property(lambda self: False)
    is_cpu = property(lambda self: js.property(self.h, "device") == "cpu")
    T = property(lambda self: self.permute(*range(self.ndim - 1, -1, -1)))
    mT = property(lambda self: self.transpose(-2, -1))
    H = property(lambda self: read(self, "H"))
    mH = property(lambda self: read(self, "mH"))
    names = property(lambda self: (None,) * self.ndim)

    _grad = property(lambda self: self.grad, lambda self, value: setattr(self, "grad", value))

    @property
    def real(self) -> Tensor:
        return function("", "real", [self]) if self.dtype.is_complex else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real.copy_(value)

    @property
    def imag(self) -> Tensor:
        return function("", "imag", [self])

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag.copy_(value)

    def size(self, dim: builtins.int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> builtins.int:
        return len(self.shape)

    ndimension = dim

    def numel(self) -> builtins.int:
        return js.property(self.h, "numel")

    nelement = numel

    def element_size(self) -> builtins.int:
        return self.dtype.itemsize

    def stride(self, dim: builtins.int | None = None) -> Any:
        strides = tuple(read(self, "strides"))
        return strides if dim is None else strides[dim]

    def storage_offset(self) -> builtins.int:
        return js.property(self.h, "offset")

    def is_contiguous(self, memory_format: Any = None) -> builtins.bool:
        """Whether the elements lie in the order of the dimensions, the only order that edgegrad has: for any format the same."""
        check_format(memory_format)
        return js.property(self.h, "isContiguous")

    def is_floating_point(self) -> builtins.bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> builtins.bool:
        return self.dtype.is_complex

    def is_inference(self) -> builtins.bool:
        return js.property(self.h, "isInference")

    def is_signed(self) -> builtins.bool:
        return self.dtype.is_signed

    def is_conj(self) -> builtins.bool:
        """False: edgegrad conjugates at once."""
        return False

    is_neg = _is_zerotensor = is_conj

    def resolve_conj(self) -> Tensor:
        return self

    resolve_neg = resolve_conj

    def _is_view(self) -> builtins.bool:
        return js.property(self.h, "isView")

    def data_ptr(self) -> builtins.int:
        """A number that is the same for the same element of the same memory; nothing is there in Python's memory."""
        return (js.owner(self.h) << 32) + self.storage_offset() * self.itemsize if self.numel() else 0

    def untyped_storage(self) -> Storage:
        return Storage(self)

    storage = _typed_storage = untyped_storage

    def apply_(self, callable: Callable) -> Tensor:
        """Replaces each element by what a function of Python returns for it; slow."""
        return self.copy_(self.new_tensor([callable(one) for one in self.reshape(-1).tolist()]).reshape(self.shape))

    def map_(self, tensor: Tensor, callable: Callable) -> Tensor:
        """Replaces each element by what a function of Python returns for it and the element of another tensor; slow."""
        pairs = zip(self.reshape(-1).tolist(), tensor.reshape(-1).tolist())
        return self.copy_(self.new_tensor([callable(one, other) for one, other in pairs]).reshape(self.shape))

    def get_device(self) -> builtins.int:
        return -1 if self.is_cpu else 0

    def is_same_size(self, other: Tensor) -> builtins.bool:
        return self.shape == other.shape

    def is_set_to(self, other: Tensor) -> builtins.bool:
        return self is other

    # Autograd

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None:
        if inputs is not None:
            from .autograd import backward

            bridge.flush()
            return backward(self, gradient, retain_graph, create_graph, inputs=inputs)
        try:
            js.backward(self.h, -1 if gradient is None else gradient.h, retain_graph, create_graph, *bridge.dead())
        except JsException as error:
            raise python_error(error) from None

    def requires_grad_(self, requires_grad: builtins.bool = True) -> Tensor:
        try:
            js.requireGrad(self.h, builtins.bool(requires_grad))
        except JsException as error:
            raise python_error(error) from None
        return self

    def retain_grad(self) -> None:
        invoke("Tensor", "retainGrad", [self])

    def detach_(self) -> Tensor:
        invoke("Tensor", "detach_", [self], None, "void")
        return self

    def register_hook(self, hook: Callable) -> Any:
        from ._hooks import register

        return register(self, hook, "registerHook")

    def register_post_accumulate_grad_hook(self, hook: Callable) -> Any:
        from ._hooks import register

        return register(self, hook, "registerPostAccumulateGradHook")

    # Elements

    def item(self) -> Any:
        try:
            kind = _value(self.h, False)
        except JsException as error:
            raise python_error(error) from None
        if kind == 0:
            return numbers[0]
        if kind == 1:
            return builtins.int(numbers[0])
        if kind == 5:
            from ._reading import item

            return item(self)
        return kind == 3 if kind < 4 else bridge.decode(js.result())

    async def item_async(self) -> Any:
        """As item(), waiting for a GPU without blocking the page."""
        return bridge.decode(await js.later(self.h))

    def __bool__(self) -> builtins.bool:
        return builtins.bool(self.item())

    def __float__(self) -> builtins.float:
        return builtins.float(self.item())

    def __int__(self) -> builtins.int:
        return builtins.int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> builtins.int:
        if self.dtype.kind not in "ib":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return builtins.int(self.item())

    def __len__(self) -> builtins.int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of a 0-d tensor")
        return shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> builtins.bool:
        return builtins.bool((self == element).any())

    def __getitem__(self, index: Any) -> Tensor:
        kind = type(index)
        if kind is builtins.int or kind is slice:
            try:
                if kind is slice:
                    return wrap(js.rows(self.h, *map(_bound, (index.start, index.stop, index.step))))
                return wrap(js.at(self.h, index))
            except JsException as error:
                raise python_error(error) from None
        return function("Tensor", "at", (self, *_indices(index)))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, Tensor) and isinstance(value, (list, tuple)):
            from ._creation import tensor

            value = tensor(value, dtype=self.dtype)
        invoke("Tensor", "set_", (self, list(_indices(index)), value), None, "void")

    def __repr__(self) -> str:
        from ._reading import text

        return text(self)

    def __format__(self, spec: str) -> str:
        return self.item().__format__(spec) if spec and not self.shape else str(self)

    def __dir__(self) -> list[str]:
        from ._calls import names_of, snake

        return sorted({*object.__dir__(self), *map(snake, names_of("Tensor"))})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "h":
            raise AttributeError(name)
        return getattr(Tensor, name).__get__(self)


class Storage:
    """The memory of a tensor, which can only be compared with that of another."""

    def __init__(self, tensor: Tensor) -> None:
        self._owner = js.owner(tensor.h)

    def data_ptr(self) -> builtins.int:
        return self._owner << 32

    _cdata = property(lambda self: self._owner)

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(f"storage.{name}: memory is no object of its own in edgegrad; storage.data_ptr() can be compared")


def _indices(index: Any) -> tuple:
    if type(index) is list and len(index) < 32 and any(isinstance(one, (list, tuple, slice, Tensor)) or one is None or one is Ellipsis for one in index):
        # As NumPy once did: a list of what is no number is a tuple of indices.
        index = tuple(index)
    if type(index) is tuple:
        return tuple(map(_one_index, index))
    return (_one_index(index),)


def _bound(index: Any) -> Any:
    return index if index is None or type(index) is builtins.int else index.__index__()


def _one_index(index: Any) -> Any:
    kind = type(index)
    if kind is builtins.int or kind is slice or index is None or isinstance(index, Tensor) or index is Ellipsis:
        return index
    if kind is tuple or kind is range:
        return list(index)
    if kind is builtins.float or kind is str:
        raise IndexError(f"only integers, slices, ellipsis, None and tensors of integers or booleans are indices, got {index!r}")
    return index


def wrap(handle: int) -> Tensor:
    """Returns the tensor of a number that JavaScript has answered: the same object as before, if there still is one."""
    # known() and remember() in one: every call of an op comes here.
    found = _live.get(handle)
    if found is not None:
        held: Any = found()
        if held is not None and held.h == handle:
            bridge.release(handle)
            return held
    made = _new(Tensor)
    made.h = handle
    _live[handle] = ref(made)
    return made


bridge.set_wrapper(wrap)
