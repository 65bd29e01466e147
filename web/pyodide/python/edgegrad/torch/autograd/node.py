"""Nodes of the graph, as `grad_fn` returns them."""

from __future__ import annotations

import types
from typing import Any, Callable

from .. import _bridge
from .._bridge import Foreign, js, result
from .._calls import camel, method, read
from .._types import Size, dtype

_SAVED = {"_saved_": "saved", "_raw_saved_": "rawSaved"}
_classes: dict[str, type] = {}


class Node(Foreign):
    """An operation in the graph; each kind has a class of its own with its name."""

    next_functions = property(lambda self: tuple(map(tuple, read(self, "nextFunctions"))))
    saved_tensors = property(lambda self: tuple(read(self, "savedTensors")))
    metadata = property(lambda self: self.__dict__.setdefault("_metadata", {}))
    variable = property(lambda self: read(self, "variable"))

    @property
    def _input_metadata(self) -> list:
        return [types.SimpleNamespace(**_described(one)) for one in read(self, "inputMetadata")]

    def name(self) -> str:
        return read(self, "name")

    def register_hook(self, fn: Callable) -> Any:
        return method(self, "registerHook", [_in_tuples(fn)])

    def register_prehook(self, fn: Callable) -> Any:
        return method(self, "registerPrehook", [_in_tuples(fn)])

    def _sequence_nr(self) -> int:
        return read(self, "sequenceNr")

    def __getattr__(self, name: str) -> Any:
        for prefix, kind in _SAVED.items():
            if name.startswith(prefix):
                return _saved(self, kind, name.removeprefix(prefix))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"<{self.name()} object at {hex(self.h)}>"


def _described(of: dict) -> dict:
    return {**of, "shape": Size(of["shape"]), "dtype": dtype.all[of["dtype"]], "is_nested_tensor": False}


def _in_tuples(fn: Callable) -> Callable:
    """A hook gets its gradients as tuples, and may return one."""

    def call(*given: Any) -> Any:
        made = fn(*[tuple(one) if isinstance(one, list) else one for one in given])
        return list(made) if isinstance(made, tuple) else made

    return call


def _saved(node: Node, kind: str, name: str) -> Any:
    found = read(node, kind)
    if not isinstance(found, dict):
        return getattr(found, name)
    if camel(name) not in found:
        raise AttributeError(f"{node.name()} has saved {', '.join(found) or 'nothing'}, not {camel(name)}")
    value = found[camel(name)]
    if kind == "rawSaved":
        return types.SimpleNamespace(register_hooks=value["registerHooks"])
    return tuple(value) if isinstance(value, list) else value


def _made(handle: int) -> Node:
    """Returns the node of a number: an object of a class with the name of the node."""
    name = result(js.get(handle, "name"))
    made = object.__new__(class_named(name))
    object.__setattr__(made, "h", handle)
    return made


def class_named(name: str) -> type:
    """Returns the class of the nodes with this name."""
    found = _classes.get(name)
    if found is None:
        found = _classes[name] = type(name, (Node,), {})
    return found


_bridge.makers["Node"] = _made
