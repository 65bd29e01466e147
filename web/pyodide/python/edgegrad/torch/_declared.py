"""The functions of edgegrad as functions of Python: how a call's arguments become JavaScript's, by the tables of the ops."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Callable

from . import _bridge as bridge, _table
from ._bridge import NONE, Held, JsException, python_error, result, with_tensors_in_tuples
from ._calls import Literal, compiled, encode_call, invoke, js_name, names_of, snake
from ._types import check_format, check_layout, device, dtype


class Parameter:
    """A parameter in the table of an op."""

    __slots__ = ("name", "kind", "default", "required")

    def __init__(self, text: str) -> None:
        head, has_default, default = text.partition("=")
        name, _, kind = head.partition(":")
        self.name, self.kind = snake(name), kind.partition("(")[0]
        self.required = not has_default
        self.default = _value(default) if has_default else None


_LITERALS = {"null": None, "true": True, "false": False, "Infinity": float("inf"), "-Infinity": float("-inf")}


def _value(text: str) -> Any:
    if text in _LITERALS:
        return _LITERALS[text]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


# What programs call parameters, beside PyTorch's own names.
_SYNONYMS = {"axis": "dim", "keepdims": "keepdim", "self": "input", "x": "input", "a": "input"}
# Kinds whose value is no tensor: a tensor of one element stands for its number.
_PLAIN = frozenset({"int", "int?", "number", "number?", "ints", "ints?", "bool", "bool?", "numbers?", "sizes"})
_OPERANDS = frozenset({"operand", "operand?", "scalar", "scalar?"})


class Declared:
    """An op of the tables: turns the arguments of a call in Python into those of JavaScript, all of them by position."""

    def __init__(self, name: str, line: str, method_first: bool = False) -> None:
        marks, _, rest = line.partition(" ")
        params, _, results = rest.rpartition("|")
        self.name, self.marks = name, marks
        self.params = [Parameter(word) for word in params.split()]
        # As a method, the op is called on its second parameter.
        if method_first and "f" in marks:
            self.params[0], self.params[1] = self.params[1], self.params[0]
        self.results = tuple(snake(one) for one in results.split())
        self.places = {param.name: place for place, param in enumerate(self.params)}
        ints = [p for p in self.params if p.kind == "ints"]
        last = next((p for p in reversed(self.params) if p.kind != "dtype?"), None)
        self.is_variadic = len(ints) == 1 and last is ints[0] and last.required
        self.spread = self.places[last.name] if self.is_variadic and last else -1

    def bind(self, args: tuple, keywords: dict) -> tuple[list, dict]:
        """Returns the arguments by position, and the options that are no parameters of the op."""
        given = list(args)
        at = self.spread
        if at >= 0 and len(given) > at and not isinstance(given[at], (list, tuple, range)):
            given[at:] = [given[at:]]
        options: dict = {}
        if keywords:
            for key, value in keywords.items():
                self._place(key, value, given, options)
        if len(given) > len(self.params):
            raise TypeError(f"{self.name}() takes {len(self.params)} arguments but {len(given)} were given")
        for place, value in enumerate(given):
            param = self.params[place]
            if value is _MISSING:
                if param.required:
                    raise TypeError(f"{self.name}() missing required argument '{param.name}'")
                given[place] = param.default
            elif param.kind in _PLAIN:
                given[place] = _plain(value)
        return given, options

    def _place(self, key: str, value: Any, given: list, options: dict) -> None:
        place = self.places.get(key)
        if place is None:
            place = self.places.get(_SYNONYMS.get(key, key))
        if place is None and key == "input" and self.params:
            place = 0
        if place is None:
            _other_keyword(self, key, value, options)
            return
        if place < len(given) and given[place] is not _MISSING:
            raise TypeError(f"{self.name}() got multiple values for argument '{key}'")
        if value is None and not self.params[place].required and not self.params[place].kind.endswith("?"):
            # As in PyTorch, None is the default.
            value = _MISSING
        while len(given) <= place:
            given.append(_MISSING)
        given[place] = value


_MISSING: Any = object()


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is float:
        return Literal(value)
    if kind is int or value is None or kind is str or kind is bool:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value] if any(type(one) is not int for one in value) else value
    return _plain(value.item()) if hasattr(value, "item") else value


def _other_keyword(declared: Declared, key: str, value: Any, options: dict) -> None:
    """Takes a keyword of PyTorch that is no parameter of the op; raises for what cannot be done."""
    if key in ("dtype", "device", "requires_grad", "generator"):
        if value is not None and value is not False:
            options[key] = device(value) if key == "device" else value
    elif key == "out":
        if value is not None:
            raise NotImplementedError(f"{declared.name}(out=...): edgegrad has no such results here; use out.copy_(result)")
    elif key == "memory_format":
        check_format(value)
    elif key == "layout":
        check_layout(value)
    elif key in ("pin_memory", "non_blocking"):
        if value:
            raise NotImplementedError(f"{declared.name}({key}=True): there is no such memory in a page")
    elif key in ("size_average", "reduce"):
        if value is not None:
            raise TypeError(f"{declared.name}(size_average, reduce): write reduction='mean', 'sum' or 'none'")
    else:
        raise TypeError(f"{declared.name}() got an unexpected keyword argument '{key}'")


def line_of(path: str, name: str) -> str | None:
    """Returns the line of the tables for a function of JavaScript."""
    lines = _table.lines()
    full = _RENAMED.get(f"{path}.{name}", f"{path}.{name}" if path else name)
    # Functions of other namespaces are those of the root under the same names, but for these two.
    return lines.get(full) or (None if path in ("masked", "sparse") else lines.get(name))


# Functions whose line has another name.
_RENAMED = {"nn.functional.fold": "col2im", "nn.functional.unfold": "im2col"}


def declared_function(path: str, name: str) -> Callable | None:
    """Returns the function of Python for a function or method of JavaScript, or None if there is none."""
    if name not in names_of(path):
        return None
    is_in_place = name.endswith("_") and not name.startswith("_")
    line = line_of("" if path == "Tensor" else path, name)
    if line is None and is_in_place:
        line = line_of("" if path == "Tensor" else path, name[:-1])
    made = _undeclared(path, name) if line is None else _declared(path, name, Declared(snake(name), line, path == "Tensor"))
    made.__name__ = made.__qualname__ = snake(name)
    made.__doc__ = _table.docs().get(name)
    return in_place(made) if is_in_place and path == "Tensor" else made


def in_place(made: Callable) -> Callable:
    """Makes the result of a method the tensor itself, which has changed."""

    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        made(self, *args, **keywords)
        self.__dict__.pop("_shape", None)
        return self

    call.__name__, call.__doc__ = made.__name__, made.__doc__
    return call


def _declared(path: str, name: str, declared: Declared) -> Callable:
    results, bind, title = declared.results, declared.bind, declared.name
    # The functions of JavaScript by the types of the arguments, and by the keywords, whose values are part of the function.
    direct: dict[Any, Callable] = {}

    def call(*args: Any, **keywords: Any) -> Any:
        types = tuple(map(type, args))
        try:
            kind = (types, tuple(keywords.items()), tuple(map(type, keywords.values()))) if keywords else types
            known = direct.get(kind)
        except TypeError:
            # A list, which has no hash.
            known = _SLOW
        if known is None:
            known = _direct(path, name, bind, args, keywords)
            if known is not _SLOW or not keywords:
                if len(direct) >= _MOST_KINDS:
                    direct.clear()
                direct[kind] = known
        if known is not _SLOW:
            try:
                answer = known(args)
            except JsException as error:
                raise python_error(error) from None
            if answer >= 0:
                return bridge.wrap_tensor(answer)
            return None if answer == NONE else with_tensors_in_tuples(result(answer), results, title)
        if "out" in keywords:
            return written(call, keywords.pop("out"), args, keywords)
        given, options = bind(args, keywords)
        answer = invoke(path, name, given, options)
        if answer >= 0 or answer == NONE:
            return result(answer)
        return with_tensors_in_tuples(result(answer), results, title)

    return call


# Of the functions that are kept for one op: a program may compute the values of its keywords.
_MOST_KINDS = 128


def written(call: Callable, out: Any, args: tuple, keywords: dict) -> Any:
    """Calls a function and copies its result into `out`, a tensor or a tuple of them, which gets the result's shape."""
    made = call(*args, **keywords)
    if out is None:
        return made
    several = isinstance(made, tuple)
    for target, value in zip(out, made) if several else [(out, made)]:
        _write(target, value)
    return type(made)(*out) if several and hasattr(made, "_fields") else out


def _write(out: Any, value: Any) -> None:
    if out.requires_grad or value.requires_grad:
        raise RuntimeError("functions with out=... arguments have no gradient: use no_grad() or detach()")
    if _ORDER.index(value.dtype.kind) > _ORDER.index(out.dtype.kind):
        raise RuntimeError(f"out: a result of {value.dtype} does not fit into a tensor of {out.dtype}")
    if out.shape != value.shape:
        if out.numel():
            warnings.warn(f"out: a tensor of shape {tuple(out.shape)} becomes one of shape {tuple(value.shape)}; pass one without elements", UserWarning, stacklevel=3)
        out.data = value.to(out.dtype)
        return
    out.copy_(value)


# The kinds of dtypes, of which each holds those before it.
_ORDER = "bifc"


def _SLOW(args: tuple) -> int:
    """Stands for arguments that have to be looked at."""
    raise TypeError(args)


_CONSTANTS = (int, float, bool, str, type(None))
_KEYWORDS = (*_CONSTANTS, dtype, device)


def _direct(path: str, name: str, bind: Callable, args: tuple, keywords: dict) -> Callable[[tuple], int]:
    """Returns the function of a tuple of arguments of these types, with these keywords, if tensors, numbers and texts are all there is."""
    is_held = [isinstance(one, Held) for one in args]
    if not args or not is_held[0] or any(not held and type(one) not in _CONSTANTS for one, held in zip(args, is_held)):
        return _SLOW
    # 0.0 and -0.0 are the same key of a dictionary.
    if any(type(one) not in _KEYWORDS or (type(one) is float and one == 0) for one in keywords.values()):
        return _SLOW
    given, options = bind(args, keywords)
    signature: list[str] = []
    flat: list = []
    encode_call(given, options, signature, flat)
    as_given = [one.h if held else one for one, held in zip(args, is_held) if one is not None]
    # Keywords come after the arguments.
    constants = flat[len(as_given) :]
    if flat[: len(as_given)] != as_given or signature.count("t") != sum(is_held):
        return _SLOW
    call = compiled(path, name, "".join(signature), "")
    count = len(args)
    if not constants and as_given == [one.h if held else one for one, held in zip(args, is_held)] and sum(is_held) in (1, count):
        if count == 1:
            return lambda args: call(args[0].h)
        if sum(is_held) == 1:
            return lambda args: call(args[0].h, *args[1:])
        if count == 2:
            return lambda args: call(args[0].h, args[1].h)
    if count == 2 and all(is_held):
        return lambda args: call(args[0].h, args[1].h, *constants)
    if count == 1:
        return lambda args: call(args[0].h, *constants)
    return lambda args: call(*[one.h if held else one for one, held in zip(args, is_held) if one is not None], *constants)


def _undeclared(path: str, name: str) -> Callable:
    def call(*args: Any, **keywords: Any) -> Any:
        if "out" in keywords:
            return written(call, keywords.pop("out"), args, keywords)
        options: dict = {}
        if "input" in keywords and not args:
            args = (keywords.pop("input"),)
        for key, value in keywords.items():
            if value is None:
                continue
            if key in ("out", "memory_format", "layout", "pin_memory", "non_blocking"):
                _other_keyword(_Named(name), key, value, options)  # type: ignore[arg-type]
            else:
                options[_SYNONYMS.get(key, key) if key != "x" else key] = value
        return with_tensors_in_tuples(result(invoke(path, name, args, options)))

    return call


class _Named:
    def __init__(self, name: str) -> None:
        self.name = snake(name)


def namespace(path: str, module: str, overrides: dict | None = None) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module whose functions are those of a namespace of JavaScript."""
    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = declared_function(path, js_name(name))
        if found is None:
            raise AttributeError(f"module '{module}' has no attribute '{name}' (edgegrad does not have it)")
        setattr(sys.modules[module], name, found)
        return found

    return find
