"""The border to JavaScript: which numbers name which objects, errors, and letting go."""

from __future__ import annotations

import array
import gc
import itertools
import json
import sys
import weakref
from collections import namedtuple
from typing import Any, Callable

from ._errors import EdgeGradError as EdgeGradError, OutOfMemoryError as OutOfMemoryError, error_of
from ._host import JsException, create_proxy, js

# The answers that are no numbers of objects; see values.ts.
NONE, TEXT = -1, -2


def python_error(error: JsException) -> BaseException:
    """Returns the exception of Python for an error of the engine; any other error of JavaScript as it is."""
    thrown = getattr(error, "js_error", error)
    code = getattr(thrown, "code", None)
    if getattr(thrown, "name", "") != "EdgeGradError":
        return error
    return error_of(code, str(thrown.message))


# Dead objects are let go in groups, because a call costs a microsecond.
_dead: list[int] = []
_GROUP = 32
_drop = js.drop


def release(handle: int) -> None:
    """Lets go of an object, together with others."""
    _dead.append(handle)
    if len(_dead) >= _GROUP:
        flush()


def dead() -> list[int]:
    """Returns the numbers that no Python object names any more, for a call that lets go of them before it begins."""
    group: list[int] = []
    # One at a time: a collection that begins in between takes numbers, too, and must not take the same ones.
    while _dead:
        group.append(_dead.pop())
    return group


def flush() -> None:
    """Lets go of what no Python object names any more, at once."""
    group = dead()
    if group:
        _drop(*group)


def _collect() -> None:
    """Runs Python's collector, which knows nothing of bytes: JavaScript calls this when tensors have grown by 256 MiB."""
    gc.collect()
    flush()


js.onGrowth(_collect)


class Held:
    """A number of an object of JavaScript, let go with this object."""

    __slots__ = ("h", "__weakref__", "__dict__")

    h: int

    def __del__(self, _add: Callable = _dead.append, _dead: list = _dead, _group: int = _GROUP) -> None:
        try:
            _add(self.h)
        except AttributeError:
            # It has no number.
            return
        if len(_dead) >= _group:
            flush()

    def __reduce_ex__(self, protocol: Any) -> Any:
        # A copy would let go of the same number once more.
        raise TypeError(f"a {type(self).__name__} is an object of JavaScript, which cannot be copied or pickled here")


class Foreign(Held):
    """An object of a class of JavaScript; its attributes are in Python's spelling."""

    _name: str = "object"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "h":
            raise AttributeError(name)
        from ._calls import attribute

        return attribute(self, name)

    def __repr__(self) -> str:
        from ._calls import method

        return method(self, "toString")


numbers = array.array("d", bytes(8 * 64))
js.scratch(create_proxy(numbers))

# The classes of what JavaScript answers, which other files fill in.
wrap_tensor: Callable[[int], Any]
_foreign: dict[str, type] = {}
# What makes objects for the numbers of those classes that have no class of their own in Python.
makers: dict[str, Callable[[int], Any]] = {}
_tuples: dict[tuple, type] = {}


def foreign(name: str) -> Callable[[type], type]:
    """Makes a class that of the objects of a class of JavaScript."""

    def register(cls: type) -> type:
        _foreign[name] = cls
        return cls

    return register


def set_wrapper(wrap: Callable[[int], Any]) -> None:
    """Takes the function that makes a Tensor of a number."""
    global wrap_tensor
    wrap_tensor = wrap


def _made_of(found: dict) -> Any:
    if not found or next(iter(found))[0] == "$":
        return {name[1:]: value for name, value in found.items()}
    if "t" in found:
        return wrap_tensor(found["t"])
    if "c" in found:
        return complex(*found["c"])
    if "m" in found:
        return {_key(k): v for k, v in found["m"]}
    if "f" in found:
        made: Any = object.__new__(ForeignFunction)
        made.h = found["f"]
        return made
    if "o" in found:
        return opaques[found["o"]]
    made = known(found["j"])
    if made is None:
        make = makers.get(found["n"])
        if make is None:
            made = object.__new__(_foreign.get(found["n"]) or _class_by_name(found["n"]))
            object.__setattr__(made, "h", found["j"])
        else:
            made = make(found["j"])
        remember(made)
    return made


def _class_by_name(name: str) -> type:
    """Returns a class that is made when it is first looked up: of the distributions and their transforms."""
    distributions = sys.modules.get(f"{__package__}.distributions")
    found = None if distributions is None else getattr(distributions, name, None)
    return found if isinstance(found, type) and issubclass(found, Foreign) else Foreign


def _key(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


class ForeignFunction(Held):
    """A function of JavaScript."""

    def __call__(self, *args: Any) -> Any:
        from ._calls import call_function

        return call_function(self, args)


_decode = json.JSONDecoder(object_hook=_made_of).decode


def decode(text: str) -> Any:
    """Returns the value that a text of JavaScript describes."""
    return _decode(text)


# What Python keeps for JavaScript, by numbers that `opaque` gives out and JavaScript hands back.
opaques: dict[int, Any] = {}
_keys = itertools.count(1)


def next_key() -> int:
    """Returns a number under which JavaScript knows something of Python."""
    return next(_keys)


class Opaque:
    """A value that JavaScript only hands back."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


# The objects of Python by the numbers of JavaScript's objects, as far as someone may ask for the same one again.
live: dict[int, weakref.ref] = {}


def remember(held: Held) -> None:
    """Makes an object the one that known() returns for its number."""
    live[held.h] = weakref.ref(held)


def known(handle: int) -> Any:
    """Returns the object of Python for a number that JavaScript has answered; None if there is none."""
    found = live.get(handle)
    held = None if found is None else found()
    if held is None or getattr(held, "h", None) != handle:
        return None
    # JavaScript has counted the number once more.
    release(handle)
    return held


def result(answer: int) -> Any:
    """Returns the value of an answer."""
    if answer >= 0:
        return wrap_tensor(answer)
    if answer == NONE:
        return None
    return decode(js.result())


def with_tensors_in_tuples(value: Any, names: tuple[str, ...] = (), title: str = "") -> Any:
    """Returns a list of tensors as a tuple, with names if there are as many; leaves anything else."""
    if isinstance(value, dict) and names == () and value and all(hasattr(v, "h") for v in value.values()):
        names, value = tuple(value), list(value.values())
    if type(value) is not list:
        return value
    if names and len(names) == len(value):
        cls = _tuples.get((title, names))
        if cls is None:
            cls = _tuples[title, names] = namedtuple(title or "result", names)
        return cls(*value)
    return tuple(value) if value and all(hasattr(one, "h") for one in value) else value


def sweep() -> int:
    """Lets go of objects that no Python object names, and returns how many: an interrupt may come between a call and its wrapper.

    It also ends modes such as no_grad() whose block has ended without them.

    Call it between cells, not while tensors are being computed.
    """
    from ._modes import Mode

    gc.collect()
    flush()
    objects = gc.get_objects()
    js.sweepModes(*[number for one in objects if isinstance(one, Mode) for number in one.__dict__.get("_open", ())])
    return js.sweep(*[one.h for one in objects if isinstance(one, Held) and hasattr(one, "h")])


def memory() -> dict[str, int]:
    """Returns the engine's memory in bytes, and the number of objects that Python names."""
    flush()
    return json.loads(js.memory())


def runtime() -> dict[str, Any]:
    """Returns what runs: the variant, the threads, the devices."""
    return json.loads(js.runtime())
