"""What edgegrad.torch calls JavaScript through where there is no page: the functions of `install.ts`, in a Node process, by pipes.

The names are those that `_host.py` of the package imports. Python asks and waits; meanwhile it serves the functions that JavaScript calls, and
those may ask in turn. So both stacks grow and shrink together, as in a page, where they are one.
"""

from __future__ import annotations

import array
import atexit
import base64
import itertools
import json
import math
import os
import pathlib
import struct
import subprocess
import threading
import warnings
from typing import Any, Callable

_SERVER = pathlib.Path(__file__).parents[1] / "serve.mjs"
# Recursion in Python that calls JavaScript and back takes both stacks; systems provide 8 MB.
_NODE_FLAGS = ["--expose-gc", "--stack-size=3900"]
_MOST_EXACT = 2**53
# The answer for a value whose text `result` has; see values.ts.
_TEXT = -2


class BridgeDied(BaseException):
    """The Node process has ended."""


class JsException(Exception):
    """An error of JavaScript."""

    def __init__(self, name: str, message: str, code: str | None) -> None:
        super().__init__(f"{name}: {message}")
        self.name, self.message, self.code = name, message, code


class _Proxy:
    """A buffer of Python on its way to JavaScript."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer

    def destroy(self) -> None:
        """Nothing is kept."""


create_proxy = _Proxy


class _Elements:
    """A typed array of JavaScript."""

    _CODES = {"Float32": "f", "Float64": "d", "BigInt64": "q", "BigUint64": "Q"}
    _CODES |= {"Int8": "b", "Int16": "h", "Int32": "i", "Uint8": "B", "Uint16": "H", "Uint32": "I"}

    def __init__(self, kind: str, raw: bytes) -> None:
        self._kind, self._raw = kind.removesuffix("Array"), raw

    def to_memoryview(self) -> memoryview:
        return memoryview(bytearray(self._raw)).cast(self._CODES[self._kind])


class _Function:
    """A function of JavaScript."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __call__(self, *args: Any) -> Any:
        return channel.call(self._number, args)

    def __del__(self) -> None:
        channel.release(self._number)


def to_js(values: list, create_pyproxies: bool = True) -> list:
    return values


def can_run_sync() -> bool:
    return False


def run_sync(_: Any) -> Any:
    raise RuntimeError("promises have no results here")


class Channel:
    """A Node process and the pipes to it. Threads take turns: one conversation at a time."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        # The calls that have not returned yet, of either side.
        self.depth = 0
        # True once the engine has ended by a trap.
        self.has_failed = False
        # While a message travels, a finalizer may want to talk: its calls go with the next message.
        self._is_talking = False
        self._waiting: list[dict] = []
        self._dropped: list[int] = []
        self._released: list[int] = []
        self._callbacks: dict[int, Callable] = {}
        self._raised: dict[int, BaseException] = {}
        self._numbers = itertools.count(1)
        self._scratch = array.array("d")
        self._lock = threading.RLock()
        self._texts = threading.local()
        self._inbox = b""
        self._read_fd = self._write_fd = -1

    def start(self) -> None:
        """Starts the process, and waits until the engine is ready."""
        to_node, ours_out = os.pipe()
        ours_in, from_node = os.pipe()
        command = [os.environ.get("EG_NODE", "node"), *_NODE_FLAGS, str(_SERVER), str(to_node), str(from_node)]
        self.process = subprocess.Popen(command, pass_fds=(to_node, from_node), stdin=subprocess.DEVNULL)
        os.close(to_node)
        os.close(from_node)
        self._read_fd, self._write_fd = ours_in, ours_out
        self._answer()

    def stop(self) -> None:
        """Ends the process, whatever it is doing."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def call(self, what: int | str, args: tuple) -> Any:
        """Calls a function of install.ts by its name, or one that JavaScript has returned by its number."""
        with self._lock:
            message = {"call": what, "a": [self._encode(one) for one in args]}
            if self._is_talking:
                self._waiting.append(message)
                return None
            self.depth += 1
            try:
                self._send(message)
                answer = self._answer()
                if answer == _TEXT and type(answer) is int:
                    # Before another thread makes a call whose answer is a text.
                    self._send({"call": "result", "a": []})
                    self._texts.last = self._answer()
                return answer
            finally:
                self.depth -= 1

    def result(self) -> str:
        """Returns the text of this thread's last answer that is a text."""
        found = self._texts.__dict__.pop("last", None)
        return self.call("result", ()) if found is None else found

    def collect(self) -> None:
        """Runs the garbage collector of JavaScript."""
        with self._lock:
            self._send({"collect": True})
            self._answer()

    def scratch(self, proxy: _Proxy) -> None:
        """Takes the array into which JavaScript writes numbers: they come with the answers."""
        self._scratch = proxy.buffer
        self.call("scratch", (proxy,))

    def drop(self, *handles: int) -> None:
        """Lets go of objects, with the next message."""
        # Another thread may be sending them: it must not send them twice.
        with self._lock:
            self._dropped += handles

    def release(self, number: int) -> None:
        """Lets go of a function of JavaScript, with the next message."""
        with self._lock:
            self._released.append(number)

    def _send(self, message: dict) -> None:
        for key, kept in (("before", "_waiting"), ("d", "_dropped"), ("r", "_released")):
            group = getattr(self, kept)
            if group:
                setattr(self, kept, [])
                message[key] = group
        body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
        self._is_talking = True
        left = memoryview(struct.pack("<I", len(body)) + body)
        try:
            while left:
                left = left[os.write(self._write_fd, left) :]
        except OSError as error:
            raise BridgeDied(str(error)) from error

    def _answer(self) -> Any:
        while True:
            message = json.loads(self._take(struct.unpack("<I", self._take(4))[0]))
            self._is_talking = False
            for number in message.get("gone", ()):
                self._callbacks.pop(number, None)
            for text in message.get("w", ()):
                warnings.warn(text, UserWarning, stacklevel=3)
            if "cb" in message:
                self._serve(message)
                continue
            for number, args in message.get("later", ()):
                self._callbacks[number](*map(self._decode, args))
            if "s" in message:
                values = list(map(self._decode, message["s"]))
                self._scratch[: len(values)] = array.array("d", values)
            if "err" in message:
                self._throw(message["err"])
            return self._decode(message.get("ok"))

    def _serve(self, message: dict) -> None:
        self.depth += 1
        try:
            value = self._callbacks[message["cb"]](*map(self._decode, message["a"]))
            reply = {"ok": self._encode(value)}
        except BridgeDied:
            raise
        except BaseException as error:
            number = next(self._numbers)
            self._raised[number] = error
            reply = {"raised": number, "s": f"{type(error).__name__}: {error}"}
        finally:
            self.depth -= 1
        self._send(reply)

    def _throw(self, described: dict) -> None:
        error = self._raised.get(described.get("raised", 0))
        if self.depth <= 1:
            # Nothing of JavaScript is running that could still throw one of them.
            self._raised.clear()
        if error is not None:
            raise error
        self.has_failed |= "the engine has failed" in described["m"]
        raise JsException(described["name"], described["m"], described.get("code"))

    def _encode(self, value: Any) -> Any:
        kind = type(value)
        if kind is float and not math.isfinite(value):
            return {"x": str(value).replace("inf", "Infinity").replace("nan", "NaN")}
        if kind is int and abs(value) >= _MOST_EXACT:
            return {"i": str(value)}
        if value is None or kind in (int, float, bool, str):
            return value
        if kind is list:
            return {"l": [self._encode(one) for one in value]}
        if isinstance(value, _Proxy):
            return {"b": base64.b64encode(bytes(memoryview(value.buffer).cast("B"))).decode()}
        if callable(value):
            number = next(self._numbers)
            self._callbacks[number] = value
            return {"f": number}
        return int(value) if isinstance(value, int) else float(value)

    def _decode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if "x" in value:
            return float(value["x"])
        if "i" in value:
            return int(value["i"])
        if "f" in value:
            return _Function(value["f"])
        return _Elements(value["t"], base64.b64decode(value["b"]))

    def _take(self, count: int) -> bytes:
        while len(self._inbox) < count:
            try:
                got = os.read(self._read_fd, 1 << 20)
            except OSError as error:
                raise BridgeDied(str(error)) from error
            if not got:
                raise BridgeDied(f"the Node process ended with {self.process.wait() if self.process else None}")
            self._inbox += got
        head, self._inbox = self._inbox[:count], self._inbox[count:]
        return head


channel = Channel()
atexit.register(channel.stop)
channel.start()
drop, result, scratch = channel.drop, channel.result, channel.scratch


def __getattr__(name: str) -> Callable:
    if name.startswith("__"):
        raise AttributeError(name)

    def call(*args: Any) -> Any:
        return channel.call(name, args)

    globals()[name] = call
    return call
