"""Nodes of the graph, as `grad_fn` returns them."""

from __future__ import annotations

import types
from typing import Any

from .. import _bridge as bridge
from .._bridge import Unsupported, camel, get, method
from .._types import Size, dtype

_SAVED = {"_saved_": "saved", "_raw_saved_": "rawSaved"}


class Node(bridge.JSObject):
    """A node; each kind of node has a class of its own with its name."""

    next_functions = property(lambda self: tuple(tuple(edge) for edge in get(self, "nextFunctions")))
    saved_tensors = property(lambda self: get(self, "savedTensors"))
    metadata = property(lambda self: get(self, "metadata"))
    variable = property(lambda self: get(self, "variable"))

    @property
    def _input_metadata(self) -> list:
        return [types.SimpleNamespace(**_metadata(one)) for one in get(self, "inputMetadata")]

    def name(self) -> str:
        return get(self, "name")

    def register_hook(self, hook: Any) -> Any:
        return method(self, "registerHook", [hook])

    def register_prehook(self, hook: Any) -> Any:
        return method(self, "registerPrehook", [hook])

    def _sequence_nr(self) -> int:
        return get(self, "sequenceNr")

    def _register_hook_dict(self, hooks: Any) -> None:
        raise Unsupported("n/a: hooks as dictionaries of PyTorch's C++")

    def __getattr__(self, name: str) -> Any:
        for prefix, js in _SAVED.items():
            if name.startswith(prefix):
                return _saved(self, js, name.removeprefix(prefix))
        raise AttributeError(name)


def _metadata(of: dict) -> dict:
    return {**of, "shape": Size(of["shape"]), "dtype": dtype.by_name[of["dtype"]], "is_nested_tensor": False}


def _saved(node: Node, js: str, name: str) -> Any:
    found = get(node, js)
    if not isinstance(found, dict):
        return getattr(found, name)
    if camel(name) not in found:
        raise AttributeError(f"{get(node, 'name')} has saved {list(found)}, not {camel(name)}")
    return found[camel(name)]


_classes: dict[str, type] = {}


def class_named(name: str) -> type:
    """Returns the class of the nodes with this name."""
    return _classes.setdefault(name, type(name, (Node,), {}))


bridge.classes["node"] = lambda described: class_named(described.get("n") or "Node")
