"""Layers that get their shapes from their first input."""

from __future__ import annotations

import inspect
from typing import Any, Callable

from .. import _creation
from .._bridge import remember
from .._modes import no_grad
from .._parameter import Buffer, Parameter
from .._tensor import Tensor
from . import convolution, linear, normalization
from .module import Module


class Uninitialized(Tensor):
    """A tensor without a shape, which the engine does not know yet."""

    __slots__ = ()
    cls_to_become: type = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None) -> Any:
        made = object.__new__(cls)
        made.__dict__["_settings"] = (requires_grad, _creation.empty(0, device=device, dtype=dtype))
        return made

    def __init__(self, *args: Any, **keywords: Any) -> None:
        """Everything is done in __new__."""

    def __del__(self) -> None:
        """There is no number to let go of."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ValueError(f"{name} of an uninitialized parameter or buffer: call materialize(), or the lazy module with an input, first")

    @property
    def shape(self) -> Any:
        raise RuntimeError("the shape of an uninitialized parameter or buffer: call materialize(), or the lazy module with an input, first")

    requires_grad = property(lambda self: self._settings[0])  # type: ignore[assignment]
    dtype = property(lambda self: self._settings[1].dtype)
    device = property(lambda self: self._settings[1].device)
    is_leaf = property(lambda self: True)
    grad = property(lambda self: None)  # type: ignore[assignment]

    def detach(self) -> Any:
        return self

    def convert(self, fn: Callable) -> None:
        """Changes dtype and device as a function changes those of a tensor."""
        self.__dict__["_settings"] = (self.requires_grad, fn(self._settings[1]))

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Gives the tensor a shape, and memory whose elements are to be set."""
        requires_grad, like = self.__dict__.pop("_settings")
        made = _creation.empty(shape, device=device or like.device, dtype=dtype or like.dtype)
        if issubclass(self.cls_to_become, Parameter):
            made = Parameter(made, requires_grad)
        self.__class__ = self.cls_to_become
        # The number belongs to this object from now on.
        self.h = made.h
        del made.h
        remember(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return (type(self), (self.requires_grad, str(self.device), self.dtype))

    def __deepcopy__(self, memo: dict) -> Any:
        made = memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return made


class UninitializedParameter(Uninitialized, Parameter):
    """A parameter whose shape is not known yet."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return Uninitialized.__new__(cls, requires_grad, device, dtype)


class UninitializedBuffer(Uninitialized, Buffer):
    """A buffer whose shape is not known yet."""

    __slots__ = ()
    cls_to_become = Buffer

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        made = Uninitialized.__new__(cls, requires_grad, device, dtype)
        made.persistent = persistent
        return made


class LazyModuleMixin:
    """Added to modules with parameters that get their shapes in initialize_parameters(), by the inputs of the first call."""

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        own: Any = self
        # By their numbers, which a copy of the module has as well.
        own._load_hook = own.register_load_state_dict_pre_hook(_materialize_as_loaded).id
        own._initialize_hook = own.register_forward_pre_hook(_initialize, with_kwargs=True).id

    def _members(self) -> list:
        own: Any = self
        return [(part, name, one) for part in (own._parameters, own._buffers) for name, one in part.items()]

    def has_uninitialized_params(self) -> bool:
        """Whether parameters or buffers of this module itself have no shape yet."""
        return any(isinstance(one, Uninitialized) for _, _, one in self._members())

    def initialize_parameters(self, *args: Any, **keywords: Any) -> None:
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def _apply(self, fn: Callable, recurse: bool = True) -> Any:
        waiting = [found for found in self._members() if isinstance(found[2], Uninitialized)]
        for part, name, _ in waiting:
            part[name] = None
        try:
            made = super()._apply(fn, recurse)  # type: ignore[misc]
        finally:
            for part, name, one in waiting:
                part[name] = one
        for _, _, one in waiting:
            one.convert(fn)
        return made


def _initialize(module: Any, args: tuple, keywords: dict) -> None:
    module.initialize_parameters(*args, **keywords)
    if module.has_uninitialized_params():
        raise RuntimeError(f"{type(module).__name__}.initialize_parameters() has left parameters or buffers without a shape")
    module._forward_pre_hooks.pop(module._initialize_hook, None)
    module._load_state_dict_pre_hooks.pop(module._load_hook, None)
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


def _materialize_as_loaded(module: Any, state: dict, prefix: str, *rest: Any) -> None:
    for _, name, one in module._members():
        value = state.get(prefix + name)
        if isinstance(one, Uninitialized) and value is not None and not isinstance(value, Uninitialized):
            one.materialize(value.shape)


class LazyLinear(LazyModuleMixin, linear.Linear):
    """As torch.nn.LazyLinear."""

    cls_to_become = linear.Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if not self.has_uninitialized_params():
            return
        self.in_features = input.shape[-1]
        _materialize(self, {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)})
        self.reset_parameters()


def _materialize(module: Any, shapes: dict) -> None:
    with no_grad():
        for _, name, one in module._members():
            if isinstance(one, Uninitialized):
                one.materialize(shapes[name])


class _LazyConvolution(LazyModuleMixin):
    def __init__(self, out_channels: int, kernel_size: Any, *args: Any, **keywords: Any) -> None:
        base: Any = self.cls_to_become
        given = inspect.signature(base.__init__).bind(self, 0, out_channels, kernel_size, *args, **keywords)
        given.apply_defaults()
        has_bias, of = given.arguments["bias"], {key: given.arguments[key] for key in ("device", "dtype")}
        given.arguments.update(out_channels=0, bias=False)
        super().__init__(*given.args[1:], **given.kwargs)
        own: Any = self
        own.out_channels = out_channels
        own.weight = UninitializedParameter(**of)
        if has_bias:
            own.bias = UninitializedParameter(**of)

    def reset_parameters(self) -> None:
        own: Any = self
        if not self.has_uninitialized_params() and own.in_channels != 0:
            own.cls_to_become.reset_parameters(self)

    def initialize_parameters(self, input: Tensor, *rest: Any, **keywords: Any) -> None:
        own: Any = self
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (own.dims + 1, own.dims + 2):
            raise RuntimeError(f"expected {own.dims + 1}D or {own.dims + 2}D input to {type(self).__name__}, got shape {input.shape}")
        own.in_channels = input.shape[-own.dims - 1]
        if own.in_channels % own.groups or own.out_channels % own.groups:
            raise ValueError(f"in_channels {own.in_channels} and out_channels {own.out_channels} must be divisible by groups {own.groups}")
        first, second = (own.in_channels, own.out_channels) if own.transposed else (own.out_channels, own.in_channels)
        _materialize(self, {"weight": (first, second // own.groups, *own.kernel_size), "bias": (own.out_channels,)})
        self.reset_parameters()


class _LazyNorm(LazyModuleMixin):
    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        own: Any = self
        own.affine, own.track_running_stats = affine, track_running_stats
        of = {"device": device, "dtype": dtype}
        if affine:
            own.weight, own.bias = UninitializedParameter(**of), UninitializedParameter(**of)
        if track_running_stats:
            own.running_mean, own.running_var = UninitializedBuffer(**of), UninitializedBuffer(**of)
            own.num_batches_tracked = _creation.zeros((), dtype=_creation.int64, device=device)

    def reset_parameters(self) -> None:
        own: Any = self
        if not self.has_uninitialized_params() and own.num_features != 0:
            own.cls_to_become.reset_parameters(self)

    def initialize_parameters(self, input: Tensor) -> None:
        own: Any = self
        if not self.has_uninitialized_params():
            return
        own.num_features = input.shape[1]
        _materialize(self, dict.fromkeys(("weight", "bias", "running_mean", "running_var"), (own.num_features,)))
        self.reset_parameters()


def _layer(name: str) -> type:
    own = next(getattr(part, name) for part in (convolution, normalization) if hasattr(part, name))
    kind = _LazyConvolution if "Conv" in name else _LazyNorm
    return type(f"Lazy{name}", (kind, own), {"cls_to_become": own, "__doc__": f"As torch.nn.Lazy{name}.", "__module__": __name__})


for _name in (*convolution.__all__, *(f"{_kind}Norm{_n}d" for _kind in ("Batch", "Instance") for _n in (1, 2, 3))):
    globals()[f"Lazy{_name}"] = _layer(_name)
