"""The base of the optimizers."""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Any, Callable

from .. import _bridge as bridge
from .._bridge import Foreign, JsException, js, python_error
from .._calls import camel, construct, method, read, snake
from .._modes import enable_grad
from .._parameter import replaced
from .._tensor import Tensor
from ..nn.hooks import Place, RemovableHandle
from .groups import IMPLEMENTATIONS, Group, State

_KINDS = ("pre", "post", "state_pre", "state_post", "load_pre", "load_post")
# Hooks of the steps of all optimizers.
_global: dict[str, Place] = {"pre": Place(), "post": Place()}


def register_optimizer_step_pre_hook(hook: Callable) -> RemovableHandle:
    return _global["pre"].add(hook)


def register_optimizer_step_post_hook(hook: Callable) -> RemovableHandle:
    return _global["post"].add(hook)


class Optimizer(Foreign):
    """The base of optimizers, also of those that are written in Python."""

    _class: str | None = None

    def __init__(self, params: Any, *args: Any, **settings: Any) -> None:
        groups = _groups(params)
        self._hooks: dict[str, Place] = {kind: Place() for kind in _KINDS}
        self._extra: dict = {}
        # Not empty once a program has seen the list of a group's parameters.
        self._shown: list[bool] = []
        self._replaced = replaced[0]
        if self._class is None:
            self._write_in_python(groups, args[0] if args else settings)
            return
        options = {key: value for key, value in settings.items() if value is not None}
        implementations = {key: options.pop(key) for key in IMPLEMENTATIONS if key in options}
        numbers = {key: _number(value) for key, value in options.items()}
        self.h = construct("optim", self._class, [[_spelled(group) for group in groups], *map(_number, args)], numbers)
        given = {**implementations, **{key: value for key, value in options.items() if isinstance(value, Tensor)}}
        if args and isinstance(args[0], Tensor):
            given["lr"] = args[0]
        self.param_groups = [self._group(place, {**given, **group}) for place, group in enumerate(groups)]
        defaults = {snake(key): tuple(one) if isinstance(one, list) else one for key, one in read(self, "defaults").items()}
        self.defaults = {**defaults, **given}
        self._known = self._handles()

    def _write_in_python(self, groups: list[dict], defaults: dict) -> None:
        self.defaults, self._own_state = dict(defaults), defaultdict(dict)
        self.param_groups = [{**self.defaults, **group} for group in groups]
        cls = type(self)
        if not hasattr(cls.step, "has_hooks"):
            setattr(cls, "step", _with_hooks(cls.step))

    def _group(self, place: int, given: dict) -> Any:
        found = Foreign()
        found.h = js.group(self.h, place)
        return Group(found, given["params"], self._shown, {key: value for key, value in given.items() if key not in ("params", "param_names")})

    @property
    def state(self) -> Any:
        """What is kept for each parameter, by parameter."""
        return State(self) if self._class is not None else self._own_state

    @state.setter
    def state(self, value: Any) -> None:
        if self._class is None:
            self._own_state = value
        else:
            self._write_state({})
            for key, own in value.items():
                self.state[key] = own

    def _handles(self) -> list[int]:
        return [param.h for group in self.param_groups for param in group.params]

    def _check(self) -> None:
        """A parameter whose data has another shape or dtype since is another tensor of JavaScript, and a program may change its lists."""
        self._replaced = replaced[0]
        if self._handles() != self._known:
            for place, group in enumerate(self.param_groups):
                js.setParams(self.h, place, *[param.h for param in group.params])
            self._known = self._handles()

    def zero_grad(self, set_to_none: bool = True) -> None:
        if self._class is None or not set_to_none:
            for group in self.param_groups:
                for param in group["params"]:
                    if set_to_none:
                        param.grad = None
                    elif param.grad is not None:
                        param.grad = param.grad.detach().zero_()
            return
        if self._replaced != replaced[0] or self._shown:
            self._check()
        try:
            js.zeroGrad(self.h)
        except JsException as error:
            raise python_error(error) from None

    def step(self, closure: Callable | None = None) -> Any:
        if self._class is None:
            raise NotImplementedError("an optimizer written in Python defines step()")
        hooks = self._hooks
        if hooks["pre"] or hooks["post"] or _global["pre"] or _global["post"]:
            return _stepped(type(self)._step, self, () if closure is None else (closure,), {})
        return self._step(closure)

    def _step(self, closure: Callable | None = None) -> Any:
        if self._replaced != replaced[0] or self._shown:
            self._check()
        for group in self.param_groups:
            if group.tensors:
                group.write_tensors()
        try:
            if closure is None:
                return js.step(self.h, *bridge.dead())
            return self._step_with(closure)
        except JsException as error:
            raise python_error(error) from None

    def _step_with(self, closure: Callable) -> Any:
        def run() -> Any:
            with enable_grad():
                return closure()

        if self._class == "LBFGS":
            return method(self, "step", [run])
        # The others compute the loss once, which may be any object of Python.
        loss = run()
        js.step(self.h, *bridge.dead())
        return loss

    def add_param_group(self, param_group: dict) -> None:
        group = _group(param_group)
        if self._class is None:
            self.param_groups.append({**self.defaults, **group})
            return
        method(self, "addParamGroup", [_spelled(group)])
        self.param_groups.append(self._group(len(self.param_groups), group))
        self._known = self._handles()

    # State

    def _read_state(self) -> dict:
        """What JavaScript keeps, by the places of the parameters."""
        found = method(self, "stateDict")["state"]
        return {int(place): {snake(key): one for key, one in own.items()} for place, own in found.items()}

    def _write_state(self, state: dict) -> None:
        """Gives JavaScript what it is to keep, by the places of the parameters."""
        counts = [len(group.params) for group in self.param_groups]
        starts = [sum(counts[:place]) for place in range(len(counts))]
        listed = [{"params": list(range(start, start + count))} for start, count in zip(starts, counts)]
        method(self, "loadStateDict", [{"state": {str(place): dict(own) for place, own in state.items()}, "param_groups": listed}])

    def state_dict(self) -> dict:
        """The settings of the groups, and what is kept for their parameters, by their places."""
        for hook in list(self._hooks["state_pre"].values()):
            hook(self)
        places: dict[int, int] = {}
        for group in self.param_groups:
            for param in _params_of(group):
                places.setdefault(id(param), len(places))
        groups = [{**_dict_of(group), "params": [places[id(param)] for param in _params_of(group)]} for group in self.param_groups]
        if self._class is None:
            state = {places[id(key)] if isinstance(key, Tensor) else key: own for key, own in self._own_state.items()}
        else:
            state = {**self._read_state(), **self._extra}
        made: Any = {"state": state, "param_groups": groups}
        for hook in list(self._hooks["state_post"].values()):
            found = hook(self, made)
            made = made if found is None else found
        return made

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes what state_dict() of an optimizer for the same parameters has returned."""
        given = dict(state_dict)
        for hook in list(self._hooks["load_pre"].values()):
            found = hook(self, given)
            given = given if found is None else found
        saved, groups = given["param_groups"], self.param_groups
        if [len(one["params"]) for one in saved] != [len(_params_of(one)) for one in groups]:
            raise ValueError("load_state_dict(): the groups saved and those of the optimizer have different numbers of parameters")
        names = [place for one in saved for place in one["params"]]
        params = [param for group in groups for param in _params_of(group)]
        place_of = {place: own for own, place in enumerate(names)}
        by_place = {place_of[key]: own for key, own in given["state"].items() if key in place_of}
        more = {key: own for key, own in given["state"].items() if key not in place_of}
        if self._class is None:
            self._load_in_python(saved, {params[place]: _moved(own, params[place]) for place, own in by_place.items()}, more)
        else:
            self._write_state(by_place)
            self._extra = more
            for group, one in zip(groups, saved):
                group.update({key: _copied(value) for key, value in one.items() if key != "params"})
        for hook in list(self._hooks["load_post"].values()):
            hook(self)

    def _load_in_python(self, saved: list[dict], state: dict, more: dict) -> None:
        self._own_state = defaultdict(dict, {**state, **more})
        for place, (group, one) in enumerate(zip(self.param_groups, saved)):
            names = {key: group[key] for key in ("param_names",) if key in group}
            self.param_groups[place] = {**names, **one, "params": group["params"]}

    def __getstate__(self) -> dict:
        return {"defaults": self.defaults, "state": dict(self.state), "param_groups": list(map(_dict_of, self.param_groups))}

    def __setstate__(self, state: dict) -> None:
        groups = state["param_groups"]
        settings = {} if self._class is None else state["defaults"]
        Optimizer.__init__(self, [{"params": group["params"]} for group in groups], **settings)
        self.defaults = state["defaults"]
        if self._class is None:
            self.param_groups, self._own_state = groups, defaultdict(dict, state["state"])
            return
        for group, one in zip(self.param_groups, groups):
            group.update({key: value for key, value in one.items() if key != "params"})
        for key, own in state["state"].items():
            self.state[key] = own

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return (_new, (type(self),), self.__getstate__())

    # Hooks

    def register_step_pre_hook(self, hook: Callable) -> RemovableHandle:
        return self._hooks["pre"].add(hook)

    def register_step_post_hook(self, hook: Callable) -> RemovableHandle:
        return self._hooks["post"].add(hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        return self._hooks["state_pre"].add(hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        return self._hooks["state_post"].add(hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        return self._hooks["load_pre"].add(hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        return self._hooks["load_post"].add(hook, prepend)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for place, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {place}")
            lines += [f"    {key}: {value}" for key, value in sorted(group.items()) if key != "params"]
        return "\n".join(lines) + "\n)"

    __hash__ = object.__hash__


def _new(cls: type) -> Any:
    return object.__new__(cls)


def _with_hooks(step: Callable) -> Callable:
    """The step of a class written in Python, with the hooks around it."""

    @functools.wraps(step)
    def call(self: Optimizer, *args: Any, **keywords: Any) -> Any:
        return _stepped(step, self, args, keywords)

    setattr(call, "has_hooks", True)
    return call


def _stepped(step: Callable, self: Optimizer, args: tuple, keywords: dict) -> Any:
    given = (self, *args)
    for hook in [*_global["pre"].values(), *self._hooks["pre"].values()]:
        found = hook(self, given, keywords)
        if found is not None:
            if not isinstance(found, tuple) or len(found) != 2:
                raise RuntimeError(f"a hook before a step returns None or a pair (args, kwargs), got {found!r}")
            given, keywords = found
    made = step(*given, **keywords)
    for hook in [*self._hooks["post"].values(), *_global["post"].values()]:
        hook(self, given, keywords)
    return made


def _params_of(group: Any) -> list[Tensor]:
    return group.params if isinstance(group, Group) else group["params"]


def _dict_of(group: Any) -> dict:
    return {"params": group.params, **group.settings()} if isinstance(group, Group) else group


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def _spelled(group: dict) -> dict:
    """A group as JavaScript takes it."""
    return {camel(key): list(one) if key == "params" else _number(one) for key, one in group.items() if key not in IMPLEMENTATIONS}


def _moved(own: Any, param: Tensor) -> Any:
    """The state of a parameter that has been saved elsewhere."""
    if not isinstance(own, dict):
        return own
    is_float = param.is_floating_point()
    return {
        key: one.to(device=param.device, dtype=param.dtype if is_float and key != "step" else None) if isinstance(one, Tensor) else one
        for key, one in own.items()
    }


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


def _group(given: dict) -> dict:
    """A group whose parameters are a list, and have their names beside them if they came with names."""
    params = given["params"]
    listed = [params] if isinstance(params, Tensor) else list(params)
    if not listed or not isinstance(listed[0], tuple):
        return {**given, "params": listed}
    return {**given, "params": [one[1] for one in listed], "param_names": [one[0] for one in listed]}


def _groups(params: Any) -> list[dict]:
    if isinstance(params, Tensor):
        raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, got a tensor")
    given = list(params)
    if not given:
        raise ValueError("optimizer got an empty parameter list")
    return [_group(one) for one in (given if isinstance(given[0], dict) else [{"params": given}])]


def optimizer(name: str) -> type:
    """Returns the class of edgegrad's optimizer with this name."""
    return type(name, (Optimizer,), {"_class": name, "__doc__": f"As torch.optim.{name}.", "__module__": "edgegrad.torch.optim"})
