"""Optimizers, which are edgegrad's."""

from __future__ import annotations

import copy
from collections.abc import MutableMapping
from typing import Any, Callable, Iterator

from .. import _bridge as bridge
from .._bridge import (
    Unsupported,
    camel,
    channel,
    decode,
    emulated,
    encode,
    get,
    has,
    method,
    set_property,
    snake,
)
from stubs import otherwise_missing
from .._tensor import Tensor
from ..nn.module import changing

# Arguments that choose an implementation.
_IMPLEMENTATIONS = ("foreach", "fused", "capturable", "differentiable")


class Group(MutableMapping):
    """One of an optimizer's groups, which stays the optimizer's: changes have their effect there."""

    def __init__(self, group: bridge.JSObject, tensors: dict[str, Any]) -> None:
        self._group = group
        self._tensors = tensors

    def __getitem__(self, key: str) -> Any:
        if not has(self._group, camel(key)):
            raise KeyError(key)
        value = get(self._group, camel(key))
        if key in self._tensors:
            tensor, number = self._tensors[key]
            # A scheduler has changed the number.
            if value != number:
                self._tensors[key] = (tensor.fill_(value), value)
            return tensor
        return list(value) if key == "params" else value

    def __setitem__(self, key: str, value: Any) -> None:
        self._tensors.pop(key, None)
        if _is_rate(key, value):
            number = as_number(value)
            self._tensors[key] = (value, number)
            value = number
        set_property(self._group, camel(key), value)

    def __deepcopy__(self, memo: dict) -> dict:
        return {key: copy.deepcopy(self[key], memo) for key in self}

    def write_tensors(self) -> None:
        """Gives edgegrad the numbers that are in tensors now."""
        for key in list(self._tensors):
            tensor, number = self._tensors[key]
            # A scheduler's number is newer than the tensor that it is written to.
            if get(self._group, camel(key)) == number:
                self[key] = tensor

    def __delitem__(self, key: str) -> None:
        channel.request({"t": "delete", "o": self._group._id, "n": camel(key)})

    def __iter__(self) -> Iterator:
        keys = decode(channel.request({"t": "keys", "o": self._group._id}))
        return iter([snake(key) for key in keys])

    def __len__(self) -> int:
        return len(list(iter(self)))


class Optimizer(bridge.JSObject):
    """Base of the optimizers."""

    _path: str | None = None

    def __init__(self, params: Any, *args: Any, **keywords: Any) -> None:
        if type(self)._path is None:
            raise Unsupported("shim: optimizers defined in Python")
        if args:
            keywords["lr"] = args[0]
        options = {k: v for k, v in keywords.items() if k not in _IMPLEMENTATIONS and v is not None}
        given = params if isinstance(params, dict) else list(params)
        numbers = {key: _number(key, one) for key, one in options.items()}
        self._tensors: list[dict] = []
        bridge.adopt(self, bridge.construct(type(self)._path, [_parameters(given)], numbers))
        for position, group in enumerate(self.param_groups):
            own = given[position] if isinstance(given, list) and isinstance(given[position], dict) else {}
            self._keep_tensors(group, {**options, **own})

    def _keep_tensors(self, group: Group, settings: dict) -> None:
        for key, value in settings.items():
            if _is_rate(key, value):
                group[key] = value

    @property
    def param_groups(self) -> list[Group]:
        found = decode(channel.request({"t": "references", "o": self._id, "n": "paramGroups"}))
        self._tensors.extend({} for _ in found[len(self._tensors) :])
        return [Group(*pair) for pair in zip(found, self._tensors)]

    def _write_tensors(self) -> None:
        if any(self._tensors):
            for group in self.param_groups:
                group.write_tensors()

    def step(self, closure: Callable | None = None) -> Any:
        self._write_tensors()
        return method(self, "step", [] if closure is None else [closure])

    def zero_grad(self, set_to_none: bool = True) -> None:
        method(self, "zeroGrad", [] if set_to_none else [False])

    def register_step_pre_hook(self, hook: Callable) -> Any:
        return method(self, "registerStepPreHook", [_pre_hook(hook)])

    def register_step_post_hook(self, hook: Callable) -> Any:
        return method(self, "registerStepPostHook", [_post_hook(hook)])

    def _register_state_hook(self, name: str, hook: Callable, prepend: bool) -> Any:
        return method(self, name, [changing(hook)], {"prepend": True} if prepend else {})

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> Any:
        return self._register_state_hook("registerStateDictPreHook", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> Any:
        return self._register_state_hook("registerStateDictPostHook", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> Any:
        return self._register_state_hook("registerLoadStateDictPreHook", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> Any:
        return self._register_state_hook("registerLoadStateDictPostHook", hook, prepend)

    def add_param_group(self, param_group: dict) -> None:
        method(self, "addParamGroup", [_parameters([param_group])[0]])
        self._keep_tensors(self.param_groups[-1], param_group)

    def state_dict(self) -> Any:
        return method(self, "stateDict")

    def load_state_dict(self, state_dict: Any) -> None:
        channel.request({"t": "call", "o": self._id, "n": "loadStateDict", "a": [encode(state_dict)]})

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return method(self, "toString")


def _pre_hook(hook: Callable) -> Callable:
    """edgegrad's hooks get the arguments as a list, keywords among them."""

    def call(optimizer: Any, args: tuple) -> Any:
        got = hook(optimizer, args, {})
        return bridge.undefined if got is None else list(got[0])

    return call


def _post_hook(hook: Callable) -> Callable:
    return lambda optimizer, args: hook(optimizer, args, {})


def register_optimizer_step_pre_hook(hook: Callable) -> Any:
    return bridge.function("optim", "registerOptimizerStepPreHook", [_pre_hook(hook)])


def register_optimizer_step_post_hook(hook: Callable) -> Any:
    return bridge.function("optim", "registerOptimizerStepPostHook", [_post_hook(hook)])


def _parameters(params: Any) -> Any:
    if isinstance(params, dict):
        return params
    return [_group(one) if isinstance(one, dict) else one for one in params]


def _group(given: dict) -> dict:
    kept = {key: one for key, one in given.items() if key not in _IMPLEMENTATIONS}
    return {
        camel(key): list(one) if hasattr(one, "__next__") else _number(key, one)
        for key, one in kept.items()
    }


# edgegrad's rates are numbers, which every step reads anew, also one that is captured. PyTorch's may be tensors as well.
def _is_rate(key: str, value: Any) -> bool:
    return key == "lr" and isinstance(value, Tensor)


def _number(key: str, value: Any) -> Any:
    return as_number(value) if _is_rate(key, value) else value


def as_number(value: Any) -> Any:
    """Returns the number in a rate that is given as a tensor."""
    if not isinstance(value, Tensor):
        return value
    emulated.add("learning rates as tensors")
    return value.item()


def optimizer(name: str) -> type:
    """Returns the class of edgegrad's optimizer with this name."""
    return type(name, (Optimizer,), {"_path": f"optim.{name}"})

__getattr__ = otherwise_missing("torch.optim.optimizer")
