"""The base of the optimizers."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import MutableMapping
from typing import Any, Callable, Iterator

from .. import _bridge as bridge
from .._bridge import Foreign, JsException, js, python_error, result
from .._calls import camel, construct, encode, method, snake
from .._modes import enable_grad
from .._tensor import Tensor

# Settings that choose an implementation in PyTorch, and change nothing in the results.
_IMPLEMENTATIONS = ("foreach", "fused", "capturable", "differentiable")


class Group(MutableMapping):
    """One of an optimizer's groups: settings are JavaScript's, so a change has its effect there; the parameters are Python's."""

    def __init__(self, handle: Foreign, params: list[Tensor], more: dict) -> None:
        self._group, self._params, self._more = handle, params, more

    def __getitem__(self, key: str) -> Any:
        if key == "params":
            return self._params
        if key in self._more:
            return self._more[key]
        if snake(camel(key)) not in self._keys():
            raise KeyError(key)
        found = result(js.get(self._group.h, camel(key)))
        return tuple(found) if isinstance(found, list) else found

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "params":
            self._params[:] = value
            return
        if key not in self._keys():
            self._more[key] = value
            if key != "initial_lr":
                return
        signature: list[str] = []
        flat: list = []
        encode(value.item() if isinstance(value, Tensor) else value, signature, flat)
        js.set(self._group.h, camel(key), "".join(signature), *flat)

    def __delitem__(self, key: str) -> None:
        del self._more[key]

    def _keys(self) -> list[str]:
        return [snake(key) for key in js.keys(self._group.h).split(",") if key != "params"]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(["params", *self._keys(), *self._more]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return repr(dict(self))

    def __deepcopy__(self, memo: dict) -> dict:
        """A dictionary with copies of the settings, which belongs to no optimizer."""
        return copy.deepcopy(dict(self), memo)


class Optimizer(Foreign):
    """The base of optimizers, also of those that are written in Python."""

    _class: str | None = None

    def __init__(self, params: Any, *args: Any, **settings: Any) -> None:
        groups = _groups(params)
        self.defaults: dict[str, Any] = {}
        self._hooks: dict[str, OrderedDict] = {"pre": OrderedDict(), "post": OrderedDict()}
        if self._class is None:
            self._plain(groups, args[0] if args else settings)
            return
        options = {key: value for key, value in settings.items() if key not in _IMPLEMENTATIONS and value is not None}
        if args:
            options["lr"] = args[0]
            if len(args) > 1:
                raise TypeError(f"{self._class}(): write the settings after lr by name")
        numbers = {key: value.item() if isinstance(value, Tensor) else value for key, value in options.items()}
        given = [{camel(k): v for k, v in group.items() if k not in _IMPLEMENTATIONS} for group in groups]
        self.h = construct("optim", self._class, [given], numbers)
        self.param_groups = [self._group(i, group) for i, group in enumerate(groups)]
        self.defaults = {k: v for k, v in self.param_groups[0].items() if k != "params"}
        self._known = self._handles()

    def _plain(self, groups: list[dict], defaults: dict) -> None:
        """An optimizer that is written in Python."""
        self.defaults, self.state = dict(defaults), {}
        self.param_groups = [{**defaults, **group} for group in groups]

    def _group(self, place: int, group: dict) -> Any:
        found = Foreign()
        found.h = js.group(self.h, place)
        return Group(found, group["params"], {})

    def _handles(self) -> list[int]:
        return [param.h for group in self.param_groups for param in group["params"]]

    def _check(self) -> None:
        """A parameter whose data has another shape or dtype since is another tensor of JavaScript."""
        if self._handles() != self._known:
            for place, group in enumerate(self.param_groups):
                js.setParams(self.h, place, *[param.h for param in group["params"]])
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
        self._check()
        try:
            js.zeroGrad(self.h)
        except JsException as error:
            raise python_error(error) from None

    def step(self, closure: Callable | None = None) -> Any:
        if self._class is None:
            raise NotImplementedError("an optimizer written in Python defines step()")
        bridge.flush()
        for hook in list(self._hooks["pre"].values()):
            hook(self, (), {})
        self._check()
        loss = None
        try:
            if closure is None:
                js.step(self.h)
            else:
                loss = self._step_with(closure)
        except JsException as error:
            raise python_error(error) from None
        for hook in list(self._hooks["post"].values()):
            hook(self, (), {})
        return loss

    def _step_with(self, closure: Callable) -> Any:
        def run() -> Any:
            with enable_grad():
                return closure()

        if self._class == "LBFGS":
            return method(self, "step", [run])
        # The others compute the loss once, which may be any object of Python.
        loss = run()
        js.step(self.h)
        return loss

    def add_param_group(self, param_group: dict) -> None:
        group = {**param_group, "params": _params(param_group["params"])}
        if self._class is None:
            self.param_groups.append({**self.defaults, **group})
            return
        method(self, "addParamGroup", [{camel(k): v for k, v in group.items()}])
        self.param_groups.append(self._group(len(self.param_groups), group))
        self._known = self._handles()

    def state_dict(self) -> dict:
        if self._class is None:
            params = [param for group in self.param_groups for param in group["params"]]
            places = {id(param): place for place, param in enumerate(params)}
            groups = [{**g, "params": [places[id(p)] for p in g["params"]]} for g in self.param_groups]
            return {"state": {places[id(p)]: s for p, s in self.state.items()}, "param_groups": groups}
        found = method(self, "stateDict")
        groups = found.get("paramGroups", found.get("param_groups"))
        return {
            "state": {int(place): {snake(k): v for k, v in one.items()} for place, one in _items(found["state"])},
            "param_groups": [{snake(k): v for k, v in group.items()} for group in groups],
        }

    def load_state_dict(self, state_dict: dict) -> None:
        if self._class is None:
            raise NotImplementedError("load_state_dict() of an optimizer that is written in Python")
        shape = method(self, "stateDict")
        spelled = camel if "paramGroups" in shape or any("weightDecay" in group for group in shape["param_groups"]) else str
        key = "paramGroups" if "paramGroups" in shape else "param_groups"
        groups = [{spelled(k): list(v) if isinstance(v, tuple) else v for k, v in g.items()} for g in state_dict["param_groups"]]
        state = {str(place): {spelled(k): v for k, v in one.items()} for place, one in state_dict["state"].items()}
        method(self, "loadStateDict", [{"state": state, key: groups}])

    def _hook(self, kind: str, hook: Callable) -> Any:
        from ..nn.hooks import RemovableHandle

        handle = RemovableHandle(self._hooks[kind])
        self._hooks[kind][handle.id] = hook
        return handle

    def register_step_pre_hook(self, hook: Callable) -> Any:
        return self._hook("pre", hook)

    def register_step_post_hook(self, hook: Callable) -> Any:
        return self._hook("post", hook)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for place, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {place}")
            lines += [f"    {key}: {value}" for key, value in sorted(group.items()) if key != "params"]
        return "\n".join(lines) + "\n)"

    __hash__ = object.__hash__


def _items(state: Any) -> Any:
    return state.items() if isinstance(state, dict) else enumerate(state)


def _params(given: Any) -> list[Tensor]:
    if isinstance(given, Tensor):
        return [given]
    return [one[1] if isinstance(one, tuple) else one for one in given]


def _groups(params: Any) -> list[dict]:
    if isinstance(params, Tensor):
        raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, got a tensor")
    given = list(params)
    if not given:
        raise ValueError("optimizer got an empty parameter list")
    if not isinstance(given[0], dict):
        return [{"params": _params(given)}]
    return [{**group, "params": _params(group["params"])} for group in given]


def optimizer(name: str) -> type:
    """Returns the class of edgegrad's optimizer with this name."""
    return type(name, (Optimizer,), {"_class": name, "__doc__": f"As torch.optim.{name}.", "__module__": "edgegrad.torch.optim"})

