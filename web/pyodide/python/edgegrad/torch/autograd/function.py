"""torch.autograd.Function."""

from __future__ import annotations

import functools
from typing import Any, Callable

from .. import _hooks
from .._bridge import JsException, decode, js, python_error
from .._calls import function as _call, with_tensors_in_tuples
from .._host import to_js
from .._tensor import Tensor


class FunctionCtx:
    """What forward and backward of one call share. Programs may add any attributes."""

    def __init__(self, number: int) -> None:
        self._number = number

    def _tensors(self, method: str, tensors: tuple) -> None:
        try:
            js.context(self._number, method, *[-1 if one is None else one.h for one in tensors])
        except JsException as error:
            raise python_error(error) from None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        self._tensors("saveForBackward", tensors)

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        self._tensors("saveForForward", tensors)

    def mark_dirty(self, *tensors: Tensor) -> None:
        self._tensors("markDirty", tensors)

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        self._tensors("markNonDifferentiable", tensors)

    def set_materialize_grads(self, value: bool) -> None:
        js.materialize(self._number, value)

    @property
    def saved_tensors(self) -> tuple:
        try:
            return tuple(decode(js.saved(self._number)))
        except JsException as error:
            raise python_error(error) from None

    needs_input_grad = property(lambda self: tuple(decode(js.needs(self._number))))


def _answer(made: Any, kept: list) -> Any:
    """Returns the numbers of results, which `kept` holds until JavaScript has looked at them."""
    kept[:] = made if isinstance(made, (tuple, list)) else [made]
    if isinstance(made, Tensor):
        return made.h

    return to_js([-1 if one is None else one.h for one in kept])


class Function:
    """An operation with a gradient of its own: static methods forward and backward, called through apply()."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        raise NotImplementedError("a subclass of Function defines forward")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError("a subclass of Function defines backward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        """Where a subclass defines it, forward takes no ctx."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        made = cls.__dict__.get("_registered")
        if made is None:
            made = cls._registered = _register(cls)
        given, call = made
        given.append(args)
        plain = [one if isinstance(one, Tensor) else None for one in args]
        try:
            return with_tensors_in_tuples(_call("call", "", [call, *plain]))
        finally:
            if given and given[-1] is args:
                given.pop()


def _register(cls: type[Function]) -> tuple[list, Any]:
    given: list[tuple] = []
    kept: list = []
    is_new_style = cls.setup_context is not Function.setup_context

    def forward(number: int, text: str) -> Any:
        context = _hooks.contexts[number] = FunctionCtx(number)
        tensors = decode(text)
        # Python's own objects for the tensors, and all other arguments, are those of the call.
        args = tuple(given.pop()) if given else tuple(tensors)
        if is_new_style:
            made = cls.forward(*args)
            cls.setup_context(context, args, made)
        else:
            made = cls.forward(context, *args)
        return _answer(made, kept)

    def backward(number: int, text: str) -> Any:
        made = cls.backward(_hooks.contexts[number], *decode(text))
        if made is None:
            return -1
        return _answer(made, kept)

    from .._bridge import ForeignFunction

    call: Any = object.__new__(ForeignFunction)
    call.h = js.customFunction(cls.__name__, forward, backward, bool(getattr(cls.backward, "_once", False)))
    return given, call


def once_differentiable(backward: Callable) -> Callable:
    """Marks a backward that cannot itself be differentiated."""

    @functools.wraps(backward)
    def call(*args: Any) -> Any:
        return backward(*args)

    call._once = True  # type: ignore[attr-defined]
    return call
