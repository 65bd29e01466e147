"""torch.nn.utils.parametrize: parameters and buffers that are computed from others at each use."""

from __future__ import annotations

import contextlib
import copy
from typing import Any, Iterator

from ..._modes import no_grad
from ..._parameter import Parameter
from ..._tensor import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module

# How many blocks of cached() are open, and what was computed in them.
_cache_enabled = 0
_cache: dict[tuple[int, str], Any] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Inside, what is computed for a parameter is kept for its further uses."""
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if _cache_enabled == 0:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The functions of one parameter in their order, and the tensor or the tensors from which they compute it."""

    original: Tensor

    def __init__(self, modules: Any, original: Tensor, unsafe: bool = False) -> None:
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList: expected at least one module, got none")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, kind = original.shape, original.dtype
        made: Any = original
        with no_grad():
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        made = module.right_inverse(made)
        if not isinstance(made, Tensor) and not isinstance(made, (tuple, list)):
            raise ValueError(f"right_inverse must return a tensor or a sequence of tensors, got a {type(made).__name__}")
        self.is_tensor = isinstance(made, Tensor)
        self.ntensors = 1 if isinstance(made, Tensor) else len(made)
        if isinstance(made, Tensor):
            if made.dtype is not kind:
                raise ValueError(f"right_inverse must return a tensor of the dtype {kind} of the original, got {made.dtype}")
            if not unsafe and made is not original:
                with no_grad():
                    original.data = made
                made = original
            _register(self, "original", _as_original(made, original))
        else:
            for place, one in enumerate(made):
                if not isinstance(one, Tensor):
                    raise ValueError(f"right_inverse must return tensors, got a {type(one).__name__} at place {place}")
                _register(self, f"original{place}", _as_original(one, original))
        if not unsafe:
            value = self()
            if not isinstance(value, Tensor):
                raise ValueError(f"a parametrization must return a tensor, got a {type(value).__name__}")
            if value.dtype is not kind or value.shape != shape:
                raise ValueError(f"a parametrization must keep {kind} and {shape} unless unsafe=True, got {value.dtype} and {value.shape}")

    def originals(self) -> list[Tensor]:
        """The tensors from which the parameter is computed."""
        return [self.original] if self.is_tensor else [getattr(self, f"original{place}") for place in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the parameter has a value."""
        with no_grad():
            made: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"{type(module).__name__} has no right_inverse(), so its parameter cannot be assigned")
                made = module.right_inverse(made)
            given = [made] if self.is_tensor else list(made)
            if len(given) != self.ntensors:
                raise ValueError(f"right_inverse must return {self.ntensors} tensors, got {len(given)}")
            for own, one in zip(self.originals(), given):
                if not isinstance(one, Tensor):
                    raise ValueError(f"right_inverse must return tensors, got a {type(one).__name__}")
                if one.dtype is not own.dtype:
                    raise ValueError(f"right_inverse must return a tensor of {own.dtype}, got {one.dtype}")
                own.data = one

    def forward(self) -> Any:
        first, *rest = self._modules.values()
        value = first(*self.originals())
        for module in rest:
            value = module(value)
        return value


def _as_original(made: Tensor, original: Tensor) -> Tensor:
    """A tensor as a parameter if it takes the place of one."""
    if isinstance(made, Parameter) or not isinstance(original, Parameter):
        return made
    can_learn = made.dtype.is_floating_point or made.dtype.is_complex
    return Parameter(made.detach(), original.requires_grad and can_learn)


def _register(owner: Module, name: str, value: Tensor) -> None:
    if isinstance(value, Parameter):
        owner.register_parameter(name, value)
    else:
        owner.register_buffer(name, value)


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Computes a parameter or buffer of a module by another module from now on, after those that compute it already."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        _add(module, tensor_name, parametrization, unsafe)
        return module
    place = module._parameters if tensor_name in module._parameters else module._buffers
    original = place.get(tensor_name)
    if original is None:
        raise ValueError(f"{type(module).__name__} has no parameter, buffer or parametrized tensor '{tensor_name}'")
    made = ParametrizationList([parametrization], original, unsafe)
    del place[tensor_name]
    if not is_parametrized(module):
        _give_class(module)
        module.parametrizations = ModuleDict()
    _give_property(module, tensor_name)
    module.parametrizations[tensor_name] = made
    return module


def _add(module: Module, name: str, parametrization: Module, unsafe: bool) -> None:
    found = module.parametrizations[name]
    if not unsafe:
        value = getattr(module, name)
        made = parametrization(value)
        if not isinstance(made, Tensor):
            raise ValueError(f"a parametrization must return a tensor, got a {type(made).__name__}")
        if made.dtype is not value.dtype or made.shape != value.shape:
            raise ValueError(f"a parametrization must keep {value.dtype} and {value.shape} unless unsafe=True, got {made.dtype} and {made.shape}")
        if hasattr(parametrization, "right_inverse"):
            with no_grad():
                back = parametrization.right_inverse(value)
            if not isinstance(back, Tensor):
                raise ValueError("right_inverse of a further parametrization must return a tensor")
            if back.dtype is not value.dtype or back.shape != value.shape:
                raise ValueError(f"right_inverse must keep {value.dtype} and {value.shape} unless unsafe=True, got {back.dtype} and {back.shape}")
    found.append(parametrization)
    found.unsafe = found.unsafe or unsafe


def _give_class(module: Module) -> None:
    """Gives a module a class of its own, which can have properties."""
    base = type(module)

    def without_cycle(self: Any, memo: dict) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        made = base.__new__(base)
        memo[id(self)] = made
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        _give_class(made)
        for name in made.parametrizations._modules:
            _give_property(made, name)
        return made

    def refuse(self: Any) -> Any:
        raise RuntimeError("a parametrized module can only be pickled by its state_dict()")

    module.__class__ = type(f"Parametrized{base.__name__}", (base,), {"__getstate__": refuse, "__deepcopy__": without_cycle})


def _give_property(module: Module, name: str) -> None:
    def get(self: Any) -> Any:
        if not _cache_enabled:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def put(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of a module is parametrized; without a name, whether any is."""
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found._modules


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes a tensor a plain parameter or buffer again, with its computed value or, without `leave_parametrized`, with that of its original."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"{type(module).__name__} has no parametrization on '{tensor_name}'")
    found = module.parametrizations[tensor_name]
    originals = found.originals()
    if not leave_parametrized and not found.is_tensor:
        raise ValueError("leave_parametrized=False is only possible for a parametrization with one original tensor")
    original = originals[0]
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name).detach()
        if found.is_tensor and value.dtype is original.dtype:
            # The same object, which an optimizer may have.
            original.data = value
        else:
            learns = any(one.requires_grad for one in originals)
            original = Parameter(value.clone(), learns) if isinstance(original, Parameter) else value.clone()
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Module:
    """Gives a module the parametrizations of another, and their originals."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations._modules) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            _register(to_module, name, copy.deepcopy(from_module.parametrizations[name].originals()[0]))
        for one in from_module.parametrizations[name]:
            register_parametrization(to_module, name, one)
        source, target = from_module.parametrizations[name], to_module.parametrizations[name]
        for own, given in zip(target.originals(), source.originals()):
            own.data = given.detach()
    return to_module
