"""`with` blocks around which a function of JavaScript runs, or that hold an object with a `using` lifetime."""

from __future__ import annotations

from typing import Any, Sequence

from .calls import function
from .channel import channel
from .values import JSObject, decode, encode, held

BODY = "$body"


class Block:
    """
    Calls a function with a body that serves Python until the end of the block; `args` has BODY in its place. What the body is given is
    `given` in the block.
    """

    def __init__(self, path: str, name: str, args: Sequence[Any]) -> None:
        self._request = (path, name, args)

    def __enter__(self) -> Block:
        path, name, args = self._request
        encoded = [one if one is BODY else encode(one) for one in args]
        self.given = decode(channel.enter({"t": "within", "p": path, "n": name, "a": encoded}))
        return self

    def __exit__(self, kind: Any = None, error: Any = None, trace: Any = None) -> bool:
        if kind is None:
            decode(channel.leave({"t": "return", "v": None}))
            return False
        number = held.number_of(error)
        try:
            channel.leave({"t": "raise", "id": number, "s": f"{kind.__name__}: {error}"})
        except BaseException as raised:
            if raised is not error:
                raise
        return False


class Mode:
    """A mode of edgegrad that lasts until its object is disposed; one may be entered again inside itself."""

    def __init__(self, name: str, args: Sequence[Any] = (), path: str = "") -> None:
        self._name, self._args, self._path = name, args, path
        self._entered: list[JSObject] = []

    def __enter__(self) -> Mode:
        self._entered.append(function(self._path, self._name, self._args))
        return self

    def __exit__(self, *_: Any) -> bool:
        channel.request({"t": "dispose", "o": self._entered.pop()._id})
        return False
