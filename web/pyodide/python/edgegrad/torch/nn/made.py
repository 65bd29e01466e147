"""Layers without parameters, which pass their settings to a function: made from a line each."""

from __future__ import annotations

from typing import Any, Callable

from .module import Module


def layer(
    name: str,
    names: str,
    call: Callable[[Any, Any], Any],
    shown: Callable[[Any], str] | None = None,
    base: type = Module,
    doc: str = "",
    module: str = __name__,
) -> type:
    """Returns a class whose constructor takes `names`, with defaults as Python writes them, and whose forward is `call`."""
    made: dict[str, Any] = {}
    words = [word.split("=")[0] for word in names.split()]
    body = "".join(f"    self.{word} = {word}\n" for word in words)
    header = ", ".join(["self", *names.split()])
    exec(f"def __init__({header}):\n    Module.__init__(self)\n{body}", {"Module": base}, made)
    init = made["__init__"]
    init.__qualname__ = f"{name}.__init__"
    members: dict[str, Any] = {
        "__init__": init,
        "forward": call,
        "__doc__": doc or f"As torch.nn.{name}.",
        "__module__": module,
        "extra_repr": shown or (lambda self: ", ".join(f"{word}={getattr(self, word)!r}" for word in words)),
    }
    return type(name, (base,), members)
