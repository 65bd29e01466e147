"""torch.autograd.Function."""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any, Callable

from .. import _hooks
from .._bridge import ForeignFunction, JsException, Opaque, decode, js, python_error, remember
from .._calls import answer_of, function as _call
from .._tensor import Tensor


class FunctionCtx:
    """What forward and backward of one call share. Programs may add any attributes."""

    def __init__(self, number: int) -> None:
        self._number = number

    def _tensors(self, method: str, tensors: tuple) -> None:
        handles = []
        for one in tensors:
            if one is not None:
                if not isinstance(one, Tensor):
                    raise TypeError(f"{method}: expected tensors or None, got a {type(one).__name__}")
                remember(one)
            handles.append(-1 if one is None else one.h)
        try:
            js.context(self._number, method, *handles)
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

    saved_variables = saved_tensors
    needs_input_grad = property(lambda self: tuple(decode(js.needs(self._number))))


class Function:
    """An operation with a gradient of its own: static methods forward and backward, called through apply()."""

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **keywords: Any) -> Any:
        raise NotImplementedError("a subclass of Function defines forward")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError("a subclass of Function defines backward or vjp")

    @staticmethod
    def vjp(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError("a subclass of Function defines backward or vjp")

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise NotImplementedError("a subclass of Function defines jvp for forward mode")

    @staticmethod
    def vmap(info: Any, in_dims: tuple, *args: Any) -> Any:
        raise NotImplementedError("a subclass of Function defines vmap, or generate_vmap_rule = True")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        """Where a subclass defines it, forward takes no ctx."""

    @classmethod
    def apply(cls, *args: Any) -> Any:
        made = cls.__dict__.get("_registered")
        if made is None:
            made = cls._registered = _register(cls)
        return _tuples(_call("call", "", [made, *map(_given, args)]))


InplaceFunction = NestedIOFunction = Function


def _given(value: Any) -> Any:
    """An argument or a result: JavaScript looks into tensors alone, and hands back everything else as it is."""
    if isinstance(value, Tensor):
        remember(value)
        return value
    return None if value is None else Opaque(value)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if type(value) is list else value


def _register(cls: type[Function]) -> Any:
    """Returns the function of JavaScript that calls the static methods of a class."""
    # Results, until JavaScript has looked at them: at those of forward after jvp has run.
    kept: list = []
    kept_tangents: list = []
    is_new_style = cls.setup_context is not Function.setup_context
    backward_of = cls.backward if cls.vjp is Function.vjp else cls.vjp

    def answered(made: Any, convert: Callable = _given, kept: list = kept) -> Any:
        kept[:] = made if isinstance(made, (tuple, list)) else [made]
        return answer_of([convert(one) for one in made] if isinstance(made, tuple) else convert(made))

    def forward(number: int, text: str) -> Any:
        context = _hooks.contexts[number] = FunctionCtx(number)
        args = _tuples(decode(text))
        if not is_new_style:
            return answered(cls.forward(context, *args))
        bound = inspect.signature(cls.forward).bind(*args)
        bound.apply_defaults()
        made = cls.forward(*bound.args)
        cls.setup_context(context, bound.args, made)
        return answered(made)

    def backward(number: int, text: str) -> Any:
        return answered(backward_of(_hooks.contexts[number], *decode(text)), _plain)

    def jvp(number: int, text: str) -> Any:
        return answered(cls.jvp(_hooks.contexts[number], *decode(text)), _plain, kept_tangents)

    def vmap(text: str) -> Any:
        info, in_dims, *args = decode(text)
        described = types.SimpleNamespace(batch_size=info["batchSize"], randomness=info["randomness"])
        output, out_dims = cls.vmap(described, tuple(in_dims), *_tuples(args))
        kept[:] = output if isinstance(output, tuple) else [output]
        outputs = [_given(one) for one in output] if isinstance(output, tuple) else _given(output)
        return answer_of([outputs, out_dims])

    call: Any = object.__new__(ForeignFunction)
    call.h = js.customFunction(
        cls.__name__,
        bool(getattr(cls.backward, "_once", False)),
        bool(cls.generate_vmap_rule),
        forward,
        backward,
        None if cls.jvp is Function.jvp else jvp,
        None if cls.vmap is Function.vmap else vmap,
    )
    return call


def _plain(gradient: Any) -> Any:
    if gradient is not None and not isinstance(gradient, Tensor):
        raise TypeError(f"backward: expected tensors or None as gradients, got a {type(gradient).__name__}")
    return gradient


def once_differentiable(backward: Callable) -> Callable:
    """Marks a backward that cannot itself be differentiated."""

    @functools.wraps(backward)
    def call(*args: Any) -> Any:
        return backward(*args)

    call._once = True  # type: ignore[attr-defined]
    return call
