"""How values travel; bridge/values.mjs lists the forms. Holds what JavaScript knows of Python until it lets go."""

from __future__ import annotations

import base64
import math
import numbers
import operator
import weakref
from typing import Any, Callable

from .channel import channel
from .errors import Unsupported


class JSObject:
    """An object of JavaScript, by its number. When Python lets go of the last reference, so does JavaScript."""

    _id: int | None = None

    def __del__(self) -> None:
        if self._id is not None:
            channel.release(self._id)


class JSFunction(JSObject):
    """A function of JavaScript; calls.py makes it callable."""


class Undefined:
    """JavaScript's undefined, where null would mean something else."""

    _js_value = {"$u": 1}


undefined = Undefined()

# The wrappers that exist, by the number of their object: so the same object has the same wrapper.
live: weakref.WeakValueDictionary[int, JSObject] = weakref.WeakValueDictionary()
# The class of wrappers by the kind of the object, or a function that chooses it by the description of the object.
classes: dict[str, Callable] = {"object": JSObject, "class": JSObject, "function": JSFunction}
# The classes of tensors, parameters, buffers, and of the latter two without a shape.
tensor_classes: list[type] = []


class _Held:
    """Objects and functions of Python that JavaScript knows by a number, until it says that they are gone."""

    def __init__(self) -> None:
        self.objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._next = 1

    def number_of(self, value: Any) -> int:
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        number = self._next
        self._next += 1
        self.objects[number] = value
        self._numbers[id(value)] = number
        return number

    def clear(self) -> None:
        """Forgets all, because the process has ended."""
        self.objects.clear()
        self._numbers.clear()

    def forget(self, given: list[int]) -> None:
        for number in given:
            value = self.objects.pop(number, None)
            if value is not None:
                self._numbers.pop(id(value), None)


held = _Held()


def callable_id(function: Callable) -> int:
    """Returns the number by which JavaScript can call a function."""
    return held.number_of(function)


def opaque(value: Any) -> dict:
    """Encodes an object that JavaScript only hands back."""
    return {"$p": held.number_of(value)}


def adopt(wrapper: JSObject, made: JSObject) -> None:
    """Makes `wrapper` the wrapper of the object that `made` stands for: a constructor in Python of an object made in JavaScript."""
    object.__setattr__(wrapper, "_id", made._id)
    object.__setattr__(made, "_id", None)
    live[wrapper._id] = wrapper


def _tensor(value: dict) -> JSObject:
    number = value["$t"]
    channel.keep(number)
    found = live.get(number)
    if found is None:
        found = object.__new__(tensor_classes[value["k"]])
        object.__setattr__(found, "_id", number)
        live[number] = found
    elif type(found) in tensor_classes[3:]:
        # One without a shape may have become a parameter or buffer.
        object.__setattr__(found, "__class__", tensor_classes[value["k"]])
    if "f" in value:
        found.__dict__["_facts"] = value["f"]
    return found


def _object(value: dict) -> JSObject:
    number = value["$o"]
    channel.keep(number)
    found = live.get(number)
    if found is None:
        cls = classes.get(value["s"], JSObject)
        if not isinstance(cls, type):
            cls = cls(value)
        found = cls.__new__(cls)
        if value.get("p") is not None:
            object.__setattr__(found, "__dict__", held.objects[value["p"]][1])
        object.__setattr__(found, "_id", number)
        live[number] = found
    return found


def _dictionary(pairs: list) -> Any:
    if [key for key, _ in pairs] == ["re", "im"]:
        return complex(decode(pairs[0][1]), decode(pairs[1][1]))
    return {decode(key): decode(value) for key, value in pairs}


_decoders: dict[str, Callable[[dict], Any]] = {
    "$t": _tensor,
    "$o": _object,
    "$f": lambda v: float(v["$f"].replace("Infinity", "inf")),
    "$b": lambda v: int(v["$b"]),
    "$p": lambda v: held.objects[v["$p"]],
    "$d": lambda v: _dictionary(v["$d"]),
}


def decode(value: Any) -> Any:
    """Decodes a value from JavaScript; arrays become tuples."""
    if isinstance(value, list):
        return tuple([decode(one) for one in value])
    if isinstance(value, dict):
        return _decoders[next(iter(value))](value)
    return value


def _number(value: float) -> Any:
    if math.isfinite(value):
        return {"$f": "-0"} if value == 0 and math.copysign(1, value) < 0 else value
    return {"$f": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}


def _index(value: Any) -> int | None:
    return value if value is None else operator.index(value)


def _slice(value: slice) -> dict:
    step = 1 if value.step is None else _index(value.step)
    return {"$s": [encode(_index(value.start)), encode(_index(value.stop)), encode(step)]}


# Python's types stand for dtypes.
_DTYPES_OF_TYPES = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


def encode(value: Any) -> Any:
    """Encodes a value for JavaScript. Functions can be called from there; unknown objects are only handed back."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        value = int(value)
        return value if abs(value) <= 1 << 53 else {"$b": str(value)}
    if isinstance(value, float):
        return _number(float(value))
    if isinstance(value, JSObject):
        if value._id is None:
            raise Unsupported(f"shim: a {type(value).__name__} without an object in JavaScript")
        return {"$o": value._id}
    if hasattr(value, "_js_value"):
        return value._js_value
    if isinstance(value, complex):
        return {"$z": [encode(value.real), encode(value.imag)]}
    if isinstance(value, (list, tuple)):
        return [encode(one) for one in value]
    if isinstance(value, slice):
        return _slice(value)
    if isinstance(value, bytes):
        return {"$y": base64.b64encode(value).decode()}
    if value is Ellipsis:
        return "..."
    if isinstance(value, dict):
        return {"$d": [[key, encode(one)] for key, one in value.items()]}
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return encode(value.tolist())
    if isinstance(value, numbers.Number) and hasattr(value, "__index__"):
        return encode(value.__index__())
    if isinstance(value, type) and value in _DTYPES_OF_TYPES:
        return _DTYPES_OF_TYPES[value]
    if callable(value) and not isinstance(value, type):
        return {"$c": callable_id(value)}
    return opaque(value)


def _call(message: dict) -> Any:
    function = held.objects[message["cb"]]
    return encode(function(*[decode(one) for one in message["a"]]))


channel.on_call = _call
channel.on_gone = held.forget
channel.find_raised = held.objects.get
channel.keep_raised = held.number_of
