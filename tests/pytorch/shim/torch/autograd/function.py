"""Custom Functions: their static methods run in Python, called by a Function in JavaScript."""

from __future__ import annotations

import inspect
import types
from typing import Any, Callable

from .. import _bridge as bridge
from .._bridge import channel, decode, encode, get, method, opaque
from stubs import otherwise_missing
from .._tensor import Tensor


class FunctionCtx(bridge.JSObject):
    """The `ctx` of a Function."""

    saved_tensors = saved_variables = property(lambda self: get(self, "savedTensors"))
    needs_input_grad = property(lambda self: get(self, "needsInputGrad"))

    def save_for_backward(self, *tensors: Any) -> None:
        method(self, "saveForBackward", tensors)

    def save_for_forward(self, *tensors: Any) -> None:
        method(self, "saveForForward", tensors)

    def mark_dirty(self, *tensors: Any) -> None:
        method(self, "markDirty", tensors)

    def mark_non_differentiable(self, *tensors: Any) -> None:
        method(self, "markNonDifferentiable", tensors)

    def set_materialize_grads(self, value: bool) -> None:
        method(self, "setMaterializeGrads", [value])

    def __setattr__(self, name: str, value: Any) -> None:
        self._attributes()[name] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._attributes()[name]
        except KeyError:
            raise AttributeError(name) from None

    def _attributes(self) -> dict:
        """What Python has stored: held by JavaScript's context, because this wrapper may go and come again before backward."""
        found = self.__dict__.get("_found")
        if found is None:
            found = get(self, "ofPython")
            if found is None:
                found = {}
                message = {"t": "set", "o": self._id, "n": "ofPython", "v": opaque(found)}
                channel.request(message)
            self.__dict__["_found"] = found
        return found


bridge.classes["context"] = FunctionCtx


class _Results:
    """Results of a function of Python: tensors as they are, all else only held by JavaScript."""

    def __init__(self, value: Any) -> None:
        self._js_value = _encoded(value)


def _encoded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_encoded(one) for one in value]
    return encode(value) if isinstance(value, Tensor) or value is None else opaque(value)


class Function:
    """Base of custom Functions, with PyTorch's static methods."""

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **keywords: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    @staticmethod
    def vjp(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError("vjp is not implemented.")

    @staticmethod
    def jvp(ctx: Any, *grads: Any) -> Any:
        raise NotImplementedError("jvp is not implemented.")

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        raise NotImplementedError("vmap is not implemented.")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        made = _class_in_javascript(cls)
        encoded = [_encoded(one) if not isinstance(one, tuple) else opaque(one) for one in args]
        return decode(channel.request({"t": "call", "o": made._id, "n": "apply", "a": encoded}))


InplaceFunction = NestedIOFunction = Function


def once_differentiable(function: Callable) -> Callable:
    function._is_once = True
    return function


def _class_in_javascript(cls: type) -> bridge.JSObject:
    started, made = cls.__dict__.get("_in_javascript", (0, None))
    if started != channel.started:
        made = _define(cls)
        cls._in_javascript = (channel.started, made)
    return made


def _with_defaults(function: Callable, args: tuple) -> tuple:
    """Returns the arguments of a call with the defaults of those that it leaves out."""
    bound = inspect.signature(function).bind(*args)
    bound.apply_defaults()
    return bound.args


def _define(cls: type) -> bridge.JSObject:
    has_setup = cls.setup_context is not Function.setup_context
    backward_of = cls.vjp if cls.vjp is not Function.vjp else cls.backward

    def forward(ctx: FunctionCtx, *args: Any) -> Any:
        output = cls.forward(*args) if has_setup else cls.forward(ctx, *args)
        if has_setup:
            cls.setup_context(ctx, _with_defaults(cls.forward, args), output)
        return _Results(output)

    def backward(ctx: FunctionCtx, *grads: Any) -> Any:
        got = backward_of(ctx, *grads)
        return list(got) if isinstance(got, tuple) else got

    def vmap(info: dict, in_dims: Any, *args: Any) -> Any:
        given = types.SimpleNamespace(batch_size=info["batchSize"], randomness=info["randomness"])
        return list(cls.vmap(given, in_dims, *args))

    def jvp(ctx: FunctionCtx, *tangents: Any) -> Any:
        got = cls.jvp(ctx, *tangents)
        return list(got) if isinstance(got, tuple) else got

    # The class in JavaScript calls them by number for as long as the class in Python lives.
    cls._called_from_javascript = (forward, backward, vmap, jvp)
    message = {
        "t": "defineFunction",
        "name": cls.__name__,
        "forward": bridge.callable_id(forward),
        "backward": bridge.callable_id(backward),
        "once": getattr(cls.backward, "_is_once", False),
        "generate": bool(cls.generate_vmap_rule),
    }
    if cls.vmap is not Function.vmap:
        message["vmap"] = bridge.callable_id(vmap)
    if cls.jvp is not Function.jvp:
        message["jvp"] = bridge.callable_id(jvp)
    return decode(channel.request(message))


__getattr__ = otherwise_missing("torch.autograd.function")
