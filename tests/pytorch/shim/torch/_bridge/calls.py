"""Calls of functions, methods and constructors of edgegrad, with PyTorch's keywords."""

from __future__ import annotations

import re
import warnings
from typing import Any, Iterable, Sequence

from .channel import channel
from .errors import EdgeGradError, Unsupported
from .values import JSFunction, JSObject, decode, encode

# What a test passed by that edgegrad does not have but the shim does with other calls; the runner counts such passes apart.
emulated: set[str] = set()

# The names that the package has, by `tensor`, `root` and the paths of its namespaces.
names: dict[str, Any] = {}

# Keywords that choose an implementation or a placement, not a result.
_WITHOUT_EFFECT = {
    "capturable",
    "foreach",
    "fused",
    "layout",
    "memory_format",
    "names",
    "non_blocking",
    "pin_memory",
}
# Names that begin with an underscore in JavaScript, too.
_WITH_UNDERSCORE = {"_random_samples"}
_SIGNATURE = re.compile(r"is called as [\w.]+\(([^)]*)\)")
_KINDS = "bifc"
# Of functions that take some of PyTorch's keywords only by position: their parameters, as their message lists them.
_positional: dict[tuple, list[str]] = {}
_camel: dict[str, str] = {}


def load_names() -> None:
    """Asks the package for its names."""
    loaded = decode(channel.request({"t": "manifest"}))
    names["tensor"], names["root"] = set(loaded["tensor"]), set(loaded["root"])
    names["spaces"] = {path: set(found) for path, found in loaded["spaces"].items()}


def camel(name: str) -> str:
    """Returns the name in JavaScript of one in Python: `index_add_` is `indexAdd_`."""
    made = _camel.get(name)
    if made is None:
        tail = "_" if name.endswith("_") and not name.startswith("__") else ""
        first, *rest = name.strip("_").split("_")
        if name in _WITH_UNDERSCORE:
            first = f"_{first}"
        first = first.lower() if rest else first
        made = _camel[name] = first + "".join(p[:1].upper() + p[1:] for p in rest) + tail
    return made


def snake(name: str) -> str:
    """Returns the name in Python of one in JavaScript."""
    return re.sub("([A-Z])", lambda found: "_" + found.group(1).lower(), name)


def encode_call(args: Iterable[Any], keywords: dict | None = None) -> list:
    """Encodes arguments, with the keywords as the object of options that comes last."""
    encoded = [encode(one) for one in args]
    if keywords:
        encoded.append({"$d": [[camel(key), encode(one)] for key, one in keywords.items()]})
    return encoded


def options(keywords: dict) -> dict:
    """Returns the keywords that edgegrad has to know."""
    kept = {k: v for k, v in keywords.items() if k not in _WITHOUT_EFFECT}
    # NumPy's name, which PyTorch takes too.
    if "axis" in kept and "dim" not in kept:
        kept["dim"] = kept.pop("axis")
    for name in ("device", "dtype", "out", "generator"):
        if kept.get(name, 0) is None:
            del kept[name]
    if keywords.get("names") is not None:
        raise Unsupported("missing: named tensors")
    layout = keywords.get("layout")
    if layout is not None and layout.name != "strided":
        raise Unsupported(f"missing: the option layout={layout.name}")
    return kept


def _request(message: dict) -> Any:
    return decode(channel.request(message))


def _invoke(message: dict, args: Sequence[Any], keywords: dict, with_self: bool) -> Any:
    out = keywords.get("out")
    if out is not None:
        rest = {key: value for key, value in keywords.items() if key != "out"}
        return write_out(_invoke(message, args, rest, with_self), out)
    keywords = options(keywords)
    key = (message.get("p"), message["n"])
    known = _positional.get(key)
    if known and keywords:
        args, keywords = _place(args, keywords, known, with_self)
    try:
        return _request({**message, "a": encode_call(args, keywords)})
    except Exception as error:
        if not isinstance(error, EdgeGradError) or known or not keywords:
            raise
        found = _SIGNATURE.search(str(error))
        if not found:
            raise
        parameters = [one.strip(" ?.") for one in found.group(1).split(",")]
        placed, rest = _place(args, keywords, parameters, with_self)
        if len(placed) == len(args):
            raise
        _positional[key] = parameters
    return _request({**message, "a": encode_call(placed, rest)})


def _place(
    args: Sequence[Any], keywords: dict, parameters: list[str], with_self: bool
) -> tuple[list, dict]:
    placed = list(args)
    rest = {camel(key): value for key, value in keywords.items()}
    at = len(placed) + with_self
    while at < len(parameters) and parameters[at] in rest:
        placed.append(rest.pop(parameters[at]))
        at += 1
    return placed, rest


def method(owner: JSObject, name: str, args: Sequence[Any] = (), keywords: dict = {}) -> Any:
    """Calls a method, or the function of this name if edgegrad has only that."""
    try:
        return _invoke({"t": "call", "o": owner._id, "n": name}, args, keywords, True)
    except Exception as error:
        if "this is a function, not a method" not in str(error):
            raise
    return function("", name, (owner, *args), keywords)


def function(path: str, name: str, args: Sequence[Any] = (), keywords: dict = {}) -> Any:
    """Calls a function of a namespace, "" for those of the package itself."""
    return _invoke({"t": "call", "p": path, "n": name}, args, keywords, False)


def lookup(path: str) -> Any:
    """Returns what the package has under a path."""
    return _request({"t": "lookup", "p": path})


class Encoded:
    """A value that is encoded already."""

    def __init__(self, value: Any) -> None:
        self._js_value = value


def call_later(path: str, name: str, args: Sequence[Any]) -> Any:
    """Calls a function of a namespace that returns a promise, outside of any function that JavaScript calls."""
    return _request({"t": "later", "p": path, "n": name, "a": encode_call(args)})


def construct(path: str, args: Sequence[Any] = (), keywords: dict = {}) -> Any:
    """Creates an object of a class, given as "nn.Linear"."""
    encoded = encode_call(args, options(keywords))
    return _request({"t": "construct", "p": path, "a": encoded})


def get(owner: JSObject, name: str) -> Any:
    """Reads a property."""
    return _request({"t": "get", "o": owner._id, "n": name})


def set_property(owner: JSObject, name: str, value: Any) -> None:
    """Sets a property."""
    channel.request({"t": "set", "o": owner._id, "n": name, "v": encode(value)})


def has(owner: JSObject, name: str) -> bool:
    """True if an object has a property or method."""
    return channel.request({"t": "has", "o": owner._id, "n": name})


def call(target: JSFunction, args: Iterable[Any]) -> Any:
    """Calls a function that JavaScript has returned."""
    return _request({"t": "call", "o": target._id, "n": "call", "a": [None, *encode_call(args)]})


def collect() -> dict:
    """Lets JavaScript collect garbage, and returns what `eg.memory()` says then. Twice, because releases travel with the next message."""
    channel.request({"t": "collect"})
    return decode(channel.request({"t": "collect"}))


def write_out(result: Any, out: Any) -> Any:
    """Does what `out=` does: copies the result into a tensor, which gets its shape."""
    emulated.add("out=")
    if isinstance(out, (list, tuple)):
        return type(out)([write_out(*pair) for pair in zip(result, out)])
    if out.requires_grad or result.requires_grad:
        raise RuntimeError("functions with out=... arguments don't support automatic differentiation")
    if _KINDS.index(result.dtype.kind) > _KINDS.index(out.dtype.kind):
        raise RuntimeError(
            f"result type {result.dtype} can't be cast to the desired output type {out.dtype}"
        )
    if tuple(out.shape) == tuple(result.shape):
        method(out, "copy_", [result])
        return out
    if out.numel():
        warnings.warn("An output with one or more elements was resized", UserWarning)
    out.become(method(method(result, "to", [out.dtype]), "clone"))
    return out


def _forward(self: JSObject, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = get(self, camel(name))
    if isinstance(value, JSFunction):
        return lambda *args, **keywords: method(self, camel(name), args, keywords)
    return value


def _enter(self: JSObject) -> JSObject:
    return self


def _exit(self: JSObject, *_: Any) -> bool:
    method(self, "remove")
    return False


# Any object has the members of its object in JavaScript; a handle of a hook is a `with` block, too.
JSObject.__getattr__ = _forward
JSObject.__enter__ = _enter
JSObject.__exit__ = _exit
JSFunction.__call__ = lambda self, *args: call(self, args)
