"""Hooks on tensors. JavaScript knows a hook by a number alone, so one that refers to its own tensor is a cycle of Python's."""

from __future__ import annotations

import weakref
from typing import Any, Callable

from ._bridge import JsException, js, next_key, opaques, python_error, remember
from ._tensor import Tensor, wrap

_hooked: weakref.WeakValueDictionary[int, Tensor] = weakref.WeakValueDictionary()
# Hooks of tensors that Python has let go, which a graph may still call.
_orphans: dict[int, Callable] = {}
# Results of hooks, until JavaScript has looked at them.
_kept: list = []
# The contexts of custom functions, by number.
contexts: dict[int, Any] = {}


class RemovableHandle:
    """What registering a hook returns."""

    def __init__(self, end: Callable[[], None], tensor: Tensor, key: int) -> None:
        self._end, self._tensor, self._key = end, weakref.ref(tensor), key

    def remove(self) -> None:
        self._end()
        tensor = self._tensor()
        if tensor is not None:
            tensor.__dict__.get("_backward_hooks", {}).pop(self._key, None)
        _orphans.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *failure: Any) -> None:
        self.remove()


def register(tensor: Tensor, hook: Callable, method: str) -> RemovableHandle:
    """Registers a hook by a method of JavaScript."""
    if not callable(hook):
        raise TypeError(f"register_hook(): expected a function, got a {type(hook).__name__}")
    key = next_key()
    try:
        end = js.hook(tensor.h, key, method)
    except JsException as error:
        raise python_error(error) from None
    tensor.__dict__.setdefault("_backward_hooks", {})[key] = hook
    _hooked[key] = tensor
    remember(tensor)
    if type(tensor) is Tensor and not tensor.is_leaf:
        tensor.__class__ = _Hooked
    return RemovableHandle(end, tensor, key)


class _Hooked(Tensor):
    """A result with hooks: when Python lets go of it, its hooks stay for its graph, until JavaScript lets go of them."""

    __slots__ = ()

    def __del__(self) -> None:
        _orphans.update(self.__dict__.get("_backward_hooks", {}))
        Tensor.__del__(self)


def _run(key: int, handle: int) -> int:
    tensor = _hooked.get(key)
    hooks = _orphans if tensor is None else tensor.__dict__.get("_backward_hooks", {})
    hook = hooks.get(key)
    value = None if handle < 0 else wrap(handle)
    if hook is None:
        return -1
    made = hook(value)
    if made is None:
        return -1
    if not isinstance(made, Tensor):
        raise TypeError(f"a hook returns a tensor or None, got a {type(made).__name__}")
    _kept.append(made)
    del _kept[:-8]
    return made.h


def _gone(key: int) -> None:
    if key > 0:
        _orphans.pop(key, None)
        opaques.pop(key, None)
    else:
        contexts.pop(-key, None)


js.listen(_run, _gone)
