"""torch.nn.Module: an ordinary object of Python, so that only ops are calls of JavaScript."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any, Callable, Iterator

from .._parameter import Buffer, Parameter
from .._tensor import Tensor
from .._types import device as _device
from .hooks import Hooks, RemovableHandle, global_hooks

# Looked at by every call of a module.
_pre, _forward, _backward_pre, _backward = (global_hooks.of[kind] for kind in ("pre", "forward", "backward_pre", "backward"))
_PARTS = ("_parameters", "_buffers", "_modules")
IncompatibleKeys = namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])


def _place_of(kind: str) -> property:
    """The hooks of one kind of a module, by numbers."""

    def get(self: Module) -> Any:
        # A call of a module without hooks is faster.
        return {} if self._hooks is None else self._hooks.of[kind]

    return property(get)


class Module:
    """The base of layers and models."""

    training: bool
    _version = 1
    # Also of one whose __init__() was not called, or that an older version has pickled.
    _hooks: Hooks | None = None

    def __init__(self, *args: Any, **keywords: Any) -> None:
        if args or keywords:
            raise TypeError(f"{type(self).__name__}.__init__() takes no arguments here")
        members = self.__dict__
        members["training"] = True
        for part in _PARTS:
            members[part] = OrderedDict()
        members["_non_persistent_buffers_set"] = set()
        members["_hooks"] = None

    def forward(self, *inputs: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        hooks = self._hooks
        if hooks is None and not (_pre or _forward or _backward_pre or _backward):
            return self.forward(*args, **keywords) if keywords else self.forward(*args)
        from .hooks import call

        return call(self, hooks, args, keywords)

    # Members

    def __setattr__(self, name: str, value: Any) -> None:
        members = self.__dict__
        parameters = members.get("_parameters")
        if isinstance(value, (Parameter, Module)) and parameters is None:
            what = "parameters" if isinstance(value, Parameter) else "module"
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if isinstance(value, Parameter):
            self._forget(name)
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._forget(name, keep="_modules")
            members["_modules"][name] = value
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(f"cannot assign a {type(value).__name__} as parameter '{name}' (a Parameter or None is expected)")
            parameters[name] = None
        elif parameters is not None and name in members["_modules"]:
            if value is not None:
                raise TypeError(f"cannot assign a {type(value).__name__} as module '{name}' (a Module or None is expected)")
            members["_modules"][name] = None
        elif isinstance(value, Buffer):
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        elif parameters is not None and name in members["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign a {type(value).__name__} as buffer '{name}' (a Tensor or None is expected)")
            members["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, keep: str = "_parameters") -> None:
        self.__dict__.pop(name, None)
        for part in _PARTS:
            if part != keep:
                self.__dict__[part].pop(name, None)

    def __getattr__(self, name: str) -> Any:
        members = self.__dict__
        for part in _PARTS:
            own = members.get(part)
            if own and name in own:
                return own[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for part in _PARTS:
            if name in self.__dict__.get(part, ()):
                del self.__dict__[part][name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        own = [name for part in _PARTS for name in self.__dict__.get(part, ())]
        return sorted({*object.__dir__(self), *own})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        self._check_name(name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign a {type(param).__name__} as parameter '{name}' (a Parameter or None is expected)")
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        self._check_name(name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign a {type(tensor).__name__} as buffer '{name}' (a Tensor or None is expected)")
        self._buffers[name] = tensor
        mark = self._non_persistent_buffers_set
        mark.discard(name) if persistent else mark.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        self._check_name(name, "_modules")
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, name: str, part: str) -> None:
        if part not in self.__dict__:
            raise AttributeError("cannot assign members before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"a member's name is a string, got a {type(name).__name__}")
        if not name or "." in name:
            raise KeyError(f"a member's name is a string without dots, got {name!r}")
        if hasattr(self, name) and name not in self.__dict__[part]:
            raise KeyError(f"attribute '{name}' already exists")

    def get_submodule(self, target: str) -> Module:
        found: Any = self
        for name in target.split(".") if target else ():
            found = getattr(found, name, None)
            if not isinstance(found, Module):
                raise AttributeError(f"there is no module '{name}' on the way to '{target}'")
        return found

    def get_parameter(self, target: str) -> Parameter:
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._parameters.get(name)
        if found is None:
            raise AttributeError(f"there is no parameter '{target}'")
        return found

    def get_buffer(self, target: str) -> Tensor:
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._buffers.get(name)
        if found is None:
            raise AttributeError(f"there is no buffer '{target}'")
        return found

    def named_modules(self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        seen: set = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        return (module for _, module in self.named_children())

    def _named(self, part: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        seen: set = set()
        owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in owners:
            for name, member in module.__dict__[part].items():
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield f"{path}.{name}" if path else name, member

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        return (param for _, param in self.named_parameters(recurse=recurse))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    # State

    def state_dict(self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> OrderedDict:
        from .state import state_dict

        return state_dict(self, destination, prefix, keep_vars)

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        from .state import load_state_dict

        return IncompatibleKeys(*load_state_dict(self, state_dict, strict, assign))

    def get_extra_state(self) -> Any:
        raise RuntimeError("a module with extra state defines get_extra_state()")

    def set_extra_state(self, state: Any) -> None:
        raise RuntimeError("a module with extra state defines set_extra_state()")

    # Modes and conversions

    def train(self, mode: bool = True) -> Any:
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        for param in self.parameters():
            if set_to_none:
                param.grad = None
            elif param.grad is not None:
                param.grad = param.grad.detach().zero_()

    def apply(self, fn: Callable[[Module], Any]) -> Any:
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        for module in self.children():
            module._apply(fn)
        for param in self._parameters.values():
            if param is not None:
                param.data = fn(param.detach())
                if param.grad is not None:
                    param.grad = fn(param.grad.detach())
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **keywords: Any) -> Any:
        given = (*args, keywords.get("device"), keywords.get("dtype"))
        targets = [_device(one) if isinstance(one, str) else one for one in given]
        targets = [one for one in targets if one is not None and not isinstance(one, bool)]

        def convert(tensor: Tensor) -> Tensor:
            is_number = tensor.dtype.is_floating_point or tensor.dtype.is_complex
            fitting = [one for one in targets if is_number or isinstance(one, _device)]
            return tensor.to(*fitting) if fitting else tensor

        return self._apply(convert)

    def float(self) -> Any:
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Any:
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Any:
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Any:
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def type(self, dst_type: Any) -> Any:
        return self._apply(lambda t: t.to(dst_type))

    def cpu(self) -> Any:
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Any:
        raise RuntimeError("module.cuda(): there is no CUDA in a page; use module.to('webgpu') where edgegrad has a WebGPU device")

    def share_memory(self) -> Any:
        raise NotImplementedError("share_memory(): a page has no processes that share tensors")

    def compile(self, *args: Any, **keywords: Any) -> None:
        raise NotImplementedError("compile(): use torch.capture(step, *inputs), which records a whole step once")

    # Hooks

    def _own_hooks(self) -> Hooks:
        if self._hooks is None:
            self.__dict__["_hooks"] = Hooks()
        return self._hooks

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        return self._own_hooks().add("forward", hook, prepend, (with_kwargs, always_call))

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        return self._own_hooks().add("pre", hook, prepend, (with_kwargs, False))

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        return self._own_hooks().add("backward", hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        return self._own_hooks().add("backward_pre", hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        return self.register_full_backward_hook(hook)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        return self._own_hooks().add("state_pre", hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        return self._own_hooks().add("state_post", hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        return self._own_hooks().add("load_pre", hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        """As register_load_state_dict_pre_hook(), for a hook that does not get the module."""
        return self.register_load_state_dict_pre_hook(hook if with_module else lambda module, *rest: hook(*rest))

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        return self._own_hooks().add("load_post", hook)

    # Under PyTorch's names, as far as programs read them.
    _forward_hooks, _forward_pre_hooks = _place_of("forward"), _place_of("pre")
    _backward_hooks, _backward_pre_hooks = _place_of("backward"), _place_of("backward_pre")
    _state_dict_hooks, _state_dict_pre_hooks = _place_of("state_post"), _place_of("state_pre")
    _load_state_dict_pre_hooks, _load_state_dict_post_hooks = _place_of("load_pre"), _place_of("load_post")

    # Text

    def extra_repr(self) -> str:
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({extra})"
        body = lines + children
        return f"{self._get_name()}(\n  " + "\n  ".join(body) + "\n)" if body else f"{self._get_name()}()"

