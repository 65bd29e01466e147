"""Modules: one defined in Python is a module of JavaScript whose forward calls Python; layers are edgegrad's own."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any, Callable, Iterator

from .. import _bridge as bridge
from .._bridge import Unsupported, camel, channel, decode, encode, get, has, method, opaque, set_property, undefined
from .._tensor import Buffer, Parameter, Tensor
from .._types import memory_format

# PyTorch's dictionaries of a module, which edgegrad does not show.
_INTERNAL = {
    "_backward_hooks",
    "_backward_pre_hooks",
    "_buffers",
    "_forward_hooks",
    "_forward_pre_hooks",
    "_is_full_backward_hook",
    "_load_state_dict_post_hooks",
    "_load_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
}


class Module(bridge.JSObject):
    """nn.Module. Attributes that are modules or tensors are JavaScript's; others stay in Python."""

    _path: str | None = None

    def __init__(self, *args: Any, **keywords: Any) -> None:
        if self._id is not None:
            return
        layer = next((c for c in type(self).__mro__ if c.__dict__.get("_path")), None)
        if layer is None and (args or keywords):
            raise TypeError(f"{type(self).__name__}.__init__() takes no arguments")
        given = bridge.encode_call([_plain(one) for one in args], _own_options(keywords))
        if type(self) is layer:
            made = decode(channel.request({"t": "construct", "p": layer._path, "a": given}))
        else:
            made = self._create(layer, given)
        self.__dict__["_kept"] = {}
        bridge.adopt(self, made)
        if type(self) is not layer:
            self._remember()

    def _remember(self) -> None:
        """Lets JavaScript keep the class and the attributes, for when this wrapper goes and another comes."""
        channel.request({"t": "remember", "o": self._id, "v": opaque((type(self), self.__dict__))})

    def _create(self, layer: type | None, args: list) -> Any:
        message = {"t": "createModule", "name": type(self).__name__, "a": args}
        message["base"] = layer._path if layer else None
        message["lazy"] = layer is None and isinstance(self, LazyModuleMixin)
        message["methods"] = {
            camel(name): bridge.callable_id(_method_of(type(self), name))
            for name in ("forward", "right_inverse", "initialize_parameters")
            if any(name in c.__dict__ and c.__module__ != __name__ for c in type(self).__mro__)
        }
        return decode(channel.request(message))

    def forward(self, *args: Any, **keywords: Any) -> Any:
        return method(self, "forward", [_plain(one) for one in args], keywords)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if type(self).__module__ == __name__:
            # Layers of JavaScript take these by position.
            args = (*args, *[keywords.pop(name) for name in ("input", "output_size") if name in keywords])
        given = [encode(_plain(one)) for one in args]
        if keywords:
            given.append(encode_keywords(self, keywords))
        return decode(channel.request({"t": "call", "o": self._id, "n": "call", "a": given}))

    def __setattr__(self, name: str, value: Any) -> None:
        if self._id is None:
            if isinstance(value, (Module, Parameter)):
                raise AttributeError("cannot assign module before Module.__init__() call")
            self.__dict__[name] = value
            return
        member = getattr(type(self), name, None)
        if isinstance(member, property):
            member.fset(self, value)
        elif isinstance(value, (Module, Tensor)) or name in self._kept or name == "training":
            if type(value) is Tensor and has(self, name) and isinstance(get(self, name), Buffer):
                # In JavaScript, only a buffer takes the place of a buffer.
                value = Buffer(value)
            self._kept[name] = value
            self.__dict__.pop(name, None)
            set_property(self, name, value)
        elif self._path and has(self, camel(name)):
            set_property(self, camel(name), value)
        else:
            self.__dict__[name] = value

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__.get("_kept", {}):
            del self._kept[name]
            channel.request({"t": "delete", "o": self._id, "n": name})
        else:
            object.__delattr__(self, name)

    def __getattr__(self, name: str) -> Any:
        if name == "_kept":
            return self.__dict__.setdefault("_kept", {})
        if name.startswith("__") or self._id is None:
            raise AttributeError(name)
        if name in _INTERNAL:
            raise Unsupported(f"n/a: Module.{name}")
        found = next((one for one in (name, camel(name)) if has(self, one)), None)
        if found is None:
            static = bridge.lookup(f"{self._path}.{camel(name)}") if self._path else None
            if not isinstance(static, bridge.JSFunction):
                raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
            return lambda *args, **keywords: bridge.function(self._path, camel(name), args, keywords)
        value = get(self, found)
        if isinstance(value, bridge.JSFunction):
            return lambda *args, **keywords: method(self, found, args, keywords)
        return value

    _parameters = property(lambda self: OrderedDict(self.named_parameters(recurse=False)))
    _modules = property(lambda self: OrderedDict(self.named_children()))

    def parameters(self, recurse: bool = True) -> Iterator:
        yield from [p for _, p in self.named_parameters(recurse=recurse)]

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator:
        return self._named("namedParameters", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator:
        yield from [b for _, b in self.named_buffers(recurse=recurse)]

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator:
        return self._named("namedBuffers", prefix, recurse)

    def _named(self, name: str, prefix: str, recurse: bool) -> Iterator:
        start = f"{prefix}." if prefix else ""
        yield from [(start + n, one) for n, one in method(self, name) if recurse or "." not in n]

    def children(self) -> Iterator:
        yield from method(self, "children")

    def named_children(self) -> Iterator:
        yield from method(self, "namedChildren")

    def modules(self) -> Iterator:
        yield from method(self, "modules")

    def named_modules(self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True) -> Iterator:
        yield from method(self, "namedModules")

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> OrderedDict:
        if args or destination is not None:
            raise Unsupported("n/a: the destination of state_dict, which PyTorch has deprecated")
        options = {key: value for key, value in (("prefix", prefix), ("keep_vars", keep_vars)) if value}
        return OrderedDict(method(self, "stateDict", [], options))

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        state = {"$d": [[key, encode(value)] for key, value in state_dict.items()]}
        given = [state, encode({"strict": strict, "assign": assign})]
        got = decode(channel.request({"t": "call", "o": self._id, "n": "loadStateDict", "a": given}))
        return incompatible_keys(list(got["missingKeys"]), list(got["unexpectedKeys"]))

    def zero_grad(self, set_to_none: bool = True) -> None:
        method(self, "zeroGrad", [] if set_to_none else [False])

    def train(self, mode: bool = True) -> Module:
        return self._returning("train", [mode])

    def eval(self) -> Module:
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        return self._returning("requiresGrad_", [requires_grad])

    def apply(self, fn: Callable) -> Module:
        return self._returning("apply", [fn])

    def to(self, *args: Any, **keywords: Any) -> Module:
        ignored = (bool, type(None), memory_format)
        given = [one for one in (*args, *keywords.values()) if not isinstance(one, ignored)]
        if not given:
            return self
        return self._returning("to", [one.dtype if isinstance(one, Tensor) else one for one in given])

    def to_empty(self, *, device: Any, recurse: bool = True) -> Module:
        method(self, "toEmpty", [device])
        return self

    def double(self) -> Module:
        return self._returning("double")

    def float(self) -> Module:
        return self._returning("float")

    def half(self) -> Module:
        return self._returning("half")

    def _returning(self, name: str, args: Any = ()) -> Module:
        method(self, name, args)
        return self

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        method(self, "registerBuffer", [name, tensor], {} if persistent else {"persistent": False})

    def register_parameter(self, name: str, param: Any) -> None:
        self._kept[name] = param
        method(self, "registerParameter", [name, param])

    def add_module(self, name: str, module: Any) -> None:
        self._kept[name] = module
        method(self, "addModule", [name, module])

    register_module = add_module

    def get_submodule(self, target: str) -> Any:
        return method(self, "getSubmodule", [target])

    def get_parameter(self, target: str) -> Any:
        return method(self, "getParameter", [target])

    def register_forward_pre_hook(self, hook: Callable, **options: Any) -> Any:
        return self._register("registerForwardPreHook", hook, options)

    def register_forward_hook(self, hook: Callable, **options: Any) -> Any:
        return self._register("registerForwardHook", hook, options)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> Any:
        return self._register("registerFullBackwardHook", hook, {"prepend": prepend})

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> Any:
        return self._register("registerFullBackwardPreHook", hook, {"prepend": prepend})

    def register_state_dict_pre_hook(self, hook: Callable) -> Any:
        return method(self, "registerStateDictPreHook", [changing(hook)])

    def register_state_dict_post_hook(self, hook: Callable) -> Any:
        return method(self, "registerStateDictPostHook", [changing(hook)])

    def register_load_state_dict_pre_hook(self, hook: Callable) -> Any:
        return method(self, "registerLoadStateDictPreHook", [changing(hook)])

    def register_load_state_dict_post_hook(self, hook: Callable) -> Any:
        return method(self, "registerLoadStateDictPostHook", [changing(_with_keys(hook))])

    def _register_state_dict_hook(self, hook: Callable) -> Any:
        return self.register_state_dict_post_hook(hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> Any:
        return self.register_load_state_dict_pre_hook(hook if with_module else lambda _, *args: hook(*args))

    def register_backward_hook(self, hook: Callable) -> Any:
        raise Unsupported("n/a: register_backward_hook, which PyTorch has deprecated")

    def _register(self, name: str, hook: Callable, options: dict) -> Any:
        given = {key: value for key, value in options.items() if value}
        return method(self, name, [hook_of(hook, name, options.get("with_kwargs", False))], given)

    def __repr__(self) -> str:
        return method(self, "toString")

    def __iter__(self) -> Iterator:
        return self.children()

    def __len__(self) -> int:
        return len(method(self, "children"))

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return method(self, "slice", [one for one in (at.start or 0, at.stop) if one is not None])
        return method(self, "get" if isinstance(at, str) else "at", [at])

    def append(self, module: Module) -> Module:
        self._kept[str(len(self))] = module
        return self._returning("append", [module])

    def __deepcopy__(self, memo: dict) -> Module:
        made = method(self, "clone")
        copies = []
        for ours, theirs in zip(self.modules(), made.modules()):
            object.__setattr__(theirs, "__class__", type(ours))
            for key, value in ours.__dict__.items():
                if key not in ("_id", "_kept"):
                    theirs.__dict__[key] = copy.deepcopy(value, memo)
            if type(ours).__module__ != __name__:
                theirs._remember()
            copies.append(theirs)
        # The copies of submodules have attributes in Python, which go with their last reference.
        made.__dict__["_copies"] = copies[1:]
        return made

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, OrderedDict) else value


def encode_keywords(module: Module, keywords: dict | None) -> Any:
    """Encodes the keywords of a call of a module, which are options in JavaScript."""
    if not keywords:
        return None
    is_layer = type(module)._path is not None and type(module).__module__ == __name__
    module.__dict__["_called_with_keywords"] = not is_layer
    return {"$d": [[camel(k) if is_layer else k, encode(x)] for k, x in keywords.items()]}


def _own_options(keywords: dict) -> dict:
    return {key: value for key, value in keywords.items() if key != "device" or value is not None}


def hook_of(hook: Callable, name: str, with_keywords: bool) -> Callable:
    """Returns what JavaScript calls; how a call of a module of Python was made may change in a hook that gets its keywords."""
    chooses_keywords = with_keywords and name.endswith("PreHook")

    def call(module: Module, *args: Any) -> Any:
        got = hook(module, *args)
        if got is None:
            return undefined
        if chooses_keywords and "_called_with_keywords" in module.__dict__:
            module.__dict__["_called_with_keywords"] = bool(got[1])
        return list(got) if isinstance(got, tuple) else got

    return call


def changing(hook: Callable) -> Any:
    """Returns a hook whose changes of lists and dictionaries have their effect in JavaScript, which gets them back as its result."""

    def call(*args: Any) -> Any:
        given = [list(one) if isinstance(one, tuple) else one for one in args]
        got = hook(*given)
        return [got, given]

    return bridge.decode(channel.request({"t": "changing", "cb": bridge.callable_id(call)}))


def _with_keys(hook: Callable) -> Callable:
    def call(module: Module, keys: dict) -> Any:
        lists = {name: list(found) for name, found in keys.items()}
        got = hook(module, incompatible_keys(lists["missingKeys"], lists["unexpectedKeys"]))
        keys.update(lists)
        return got

    return call


class _IncompatibleKeys(tuple):
    """What load_state_dict() returns."""

    missing_keys = property(lambda self: self[0])
    unexpected_keys = property(lambda self: self[1])


def incompatible_keys(missing: list, unexpected: list) -> Any:
    return _IncompatibleKeys((missing, unexpected))


def _method_of(cls: type, name: str) -> Callable:
    """Returns the function that JavaScript calls as a method of a class's modules."""
    made = cls.__dict__.get(f"_called_{name}")
    if made is None:

        def made(self: Module, *args: Any) -> Any:
            with_keywords = self.__dict__.pop("_called_with_keywords", False)
            keywords = args[-1] if with_keywords else {}
            got = getattr(self, name)(*(args[:-1] if with_keywords else args), **keywords)
            return list(got) if isinstance(got, tuple) else got

        setattr(cls, f"_called_{name}", made)
    return made


@classmethod
def _from_pretrained(cls: type, embeddings: Tensor, **options: Any) -> Module:
    return bridge.function(cls._path, "fromPretrained", [embeddings], options)


class LazyModuleMixin(Module):
    """nn.modules.lazy.LazyModuleMixin, from which lazy layers and lazy modules defined in Python descend."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        try:
            return Module.__call__(self, *args, **keywords)
        finally:
            if self._path and not has(self, "hasUninitializedParams"):
                object.__setattr__(self, "__class__", layer(type(self).__name__.removeprefix("Lazy")))


_layers: dict[str, type] = {}


def layer(name: str) -> type:
    """Returns the class of edgegrad's layer with this name, or Module for one that is not edgegrad's."""
    if name not in bridge.names["spaces"]["nn"]:
        return Module
    if name not in _layers:
        members = {"_path": f"nn.{name}", "__module__": __name__, "from_pretrained": _from_pretrained}
        bases = (LazyModuleMixin, layer(name[4:])) if name.startswith("Lazy") else (Module,)
        _layers[name] = type(name, bases, members)
    return _layers[name]


def _class_of(described: dict) -> type:
    number = described.get("p")
    return layer(described["k"]) if number is None else bridge.held.objects[number][0]


bridge.classes["module"] = _class_of
