"""Calls of JavaScript: how Python's values become arguments."""

from __future__ import annotations

from typing import Any, Callable, Iterable

from ._bridge import (
    ForeignFunction,
    Held,
    JsException,
    Opaque,
    decode,
    js,
    next_key,
    opaques,
    python_error,
    result,
    with_tensors_in_tuples,
)
from ._host import to_js
from ._types import PYTHON_DTYPES, device, dtype

_camel: dict[str, str] = {}
# PyTorch's other names of functions and methods.
_ALIASES = {
    "absolute_": "abs_",
    "arccos_": "acos_",
    "arccosh_": "acosh_",
    "arcsin_": "asin_",
    "arcsinh_": "asinh_",
    "arctan_": "atan_",
    "arctan2_": "atan2_",
    "arctanh_": "atanh_",
    "chain_matmul": "multiDot",
    "clip": "clamp",
    "clip_": "clamp_",
    "concat": "cat",
    "concatenate": "cat",
    "conj_physical": "conj",
    "divide_": "div_",
    "fix_": "trunc_",
    "ger": "outer",
    "greater_": "gt_",
    "greater_equal_": "ge_",
    "less_": "lt_",
    "less_equal_": "le_",
    "linalg_norm": "norm",
    "multiply_": "mul_",
    "negative_": "neg_",
    "not_equal_": "ne_",
    "positive": "clone",
    "reshape_as": "viewAs",
    "row_stack": "vstack",
    "special_expit": "sigmoid",
    "subtract_": "sub_",
    "swapdims_": "swapaxes_",
    "true_divide": "div",
    "true_divide_": "div_",
    "unsafe_chunk": "chunk",
}


def js_name(name: str) -> str:
    """JavaScript's name of a function or method of PyTorch."""
    return _ALIASES.get(name) or camel(name)


def camel(name: str) -> str:
    """JavaScript's spelling of a name."""
    found = _camel.get(name)
    if found is None:
        head, tail = "_" if name.startswith("_") else "", "_" if name.endswith("_") else ""
        first, *rest = name.strip("_").split("_")
        if rest and len(first) == 1:
            # T_max is tMax.
            first = first.lower()
        found = _camel[name] = head + first + "".join(part[:1].upper() + part[1:] for part in rest) + tail
    return found


def snake(name: str) -> str:
    """Python's spelling of a name."""
    if name.isupper() or name[:1].isupper():
        return name
    return "".join("_" + c.lower() if c.isupper() else c for c in name)


def names_of(path: str) -> frozenset[str]:
    """The names in a namespace of JavaScript."""
    found = _names.get(path)
    if found is None:
        found = _names[path] = frozenset(js.names(path).split(","))
    return found


_names: dict[str, frozenset[str]] = {}


class Literal:
    """A float that is no operand, so that beside a tensor of integers it remains a number."""

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        self.value = value


def encode(value: Any, signature: list[str], flat: list) -> None:
    """Adds a value to a call; values.ts has the letters."""
    kind = type(value)
    if kind is float:
        signature.append("f")
        flat.append(value)
    elif kind is int or kind is bool or kind is str:
        signature.append("v")
        flat.append(value)
    elif value is None:
        signature.append("n")
    elif isinstance(value, Held):
        signature.append("t")
        flat.append(value.h)
    elif isinstance(value, (list, tuple, range)):
        signature.append("[")
        for one in value:
            encode(one, signature, flat)
        signature.append("]")
    elif isinstance(value, dict):
        signature.append("<")
        for key, one in value.items():
            signature.append("k")
            flat.append(key)
            encode(one, signature, flat)
        signature.append(">")
    elif kind is slice:
        signature.append("s")
        flat += [_index(value.start), _index(value.stop), _index(value.step)]
    elif kind is Literal:
        signature.append("v")
        flat.append(value.value)
    elif kind is Opaque:
        key = next_key()
        opaques[key] = value.value
        signature.append("o")
        flat.append(key)
    elif value is Ellipsis:
        signature.append("v")
        flat.append("...")
    elif kind is complex:
        signature.append("z")
        flat += [value.real, value.imag]
    elif isinstance(value, dtype):
        signature.append("v")
        flat.append(value.name)
    elif isinstance(value, device):
        signature.append("v")
        flat.append(value.type)
    elif kind is type and value in PYTHON_DTYPES:
        signature.append("v")
        flat.append(PYTHON_DTYPES[value].name)
    else:
        _encode_other(value, signature, flat)


def _encode_other(value: Any, signature: list[str], flat: list) -> None:
    if hasattr(value, "__array__"):
        from ._creation import from_buffer

        made = from_buffer(value)
        # The call's arguments keep it until they have been read.
        _temporary.append(made)
        del _temporary[:-8]
        encode(made, signature, flat)
    elif callable(value):
        signature.append("c")
        flat.append(callback(value))
    elif hasattr(value, "__index__"):
        signature.append("v")
        flat.append(value.__index__())
    elif hasattr(value, "__float__"):
        signature.append("f")
        flat.append(value.__float__())
    elif isinstance(value, Iterable):
        encode(list(value), signature, flat)
    else:
        raise TypeError(f"a {type(value).__name__} is nothing that edgegrad takes")


_temporary: list = []


def _index(value: Any) -> int | None:
    return value if value is None or type(value) is int else value.__index__()


# Results of functions that JavaScript calls, until it has looked at them.
_kept: list = []


def callback(function: Callable) -> Callable:
    """Returns a function that JavaScript can call: it gets a description of its arguments, and returns a number or a list."""

    def run(text: str) -> Any:
        args = decode(text)
        value = function(*args)
        _kept.append(value)
        del _kept[:-8]
        return answer_of(value)

    return run


def answer_of(value: Any) -> Any:
    """Returns what JavaScript reads as the value that a function of Python has returned."""
    if value is None:
        return None
    if isinstance(value, Held):
        return value.h
    signature: list[str] = []
    flat: list = []
    encode(value, signature, flat)

    return to_js(["".join(signature), *flat], create_pyproxies=False)


_calls: dict[tuple[str, str, str, str], Callable[..., int]] = {}


def compiled(path: str, name: str, signature: str, how: str) -> Callable[..., int]:
    """Returns the function of JavaScript for a function and a kind of arguments."""
    key = (path, name, signature, how)
    call = _calls.get(key)
    if call is None:
        call = _calls[key] = js.op(*key)
    return call


def encode_call(args: Iterable, options: dict | None, signature: list[str], flat: list) -> None:
    """Adds the arguments of a call, and its options if there are some."""
    for one in args:
        encode(one, signature, flat)
    if options:
        signature.append("{")
        for key, value in options.items():
            signature.append(camel(key) + ":")
            encode(value, signature, flat)
        signature.append("}")


def invoke(path: str, name: str, args: Iterable, options: dict | None = None, how: str = "") -> int:
    """Calls a function of JavaScript and returns the number of its result; `op` of calls.ts has `how`."""
    signature: list[str] = []
    flat: list = []
    encode_call(args, options, signature, flat)
    call = compiled(path, name, "".join(signature), how)
    try:
        return call(*flat)
    except JsException as error:
        raise python_error(error) from None


def function(path: str, name: str, args: Iterable = (), options: dict | None = None, how: str = "") -> Any:
    """Calls a function of JavaScript and returns its result."""
    return result(invoke(path, name, args, options, how))


def method(owner: Any, name: str, args: Iterable = (), options: dict | None = None) -> Any:
    """Calls a method of an object of JavaScript that is no tensor."""
    return function("object", name, [owner, *args], options, "hold")


def construct(path: str, name: str, args: Iterable, options: dict | None = None) -> int:
    """Makes an object of a class of JavaScript and returns its number."""
    answer = invoke(path, name, args, options, "new")
    if answer >= 0:
        return answer
    made = decode(js.result())
    handle = made.h
    # The number belongs to the caller from now on.
    del made.h
    return handle


def read(owner: Any, name: str) -> Any:
    """Returns a property of an object of JavaScript, by JavaScript's name."""
    try:
        return result(js.get(owner.h, name))
    except JsException as error:
        raise python_error(error) from None


def lookup(path: str, name: str) -> Any:
    """Returns what a namespace of JavaScript has under a name."""
    return result(js.lookup(path, name))


def attribute(owner: Any, name: str) -> Any:
    """Returns an attribute of an object of JavaScript; a method as a function."""
    for spelled in (camel(name), name):
        value = read(owner, spelled)
        if isinstance(value, ForeignFunction):
            # A bound method: it is called by its name, so that it has its object.
            return lambda *args, **keywords: method(owner, spelled, args, given_options(keywords))
        if value is not None or js.exists(spelled):
            return with_tensors_in_tuples(value)
    raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")


def given_options(keywords: dict) -> dict:
    """Returns keywords without those that are None."""
    return {key: value for key, value in keywords.items() if value is not None}


def call_function(owner: ForeignFunction, args: Iterable) -> Any:
    """Calls a function that JavaScript has returned."""
    return with_tensors_in_tuples(function("call", "", [owner, *args], None, "hold"))
