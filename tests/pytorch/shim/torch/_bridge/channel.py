"""The Node process: starts it, sends requests, and serves what it calls meanwhile."""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import struct
import subprocess
import threading
import warnings
from typing import Any, Callable

from .errors import BridgeDied, Unsupported, error_of

_SERVER = pathlib.Path(__file__).parents[3] / "bridge" / "serve.mjs"
# Recursion in Python that calls JavaScript and back takes both stacks; systems provide 8 MB.
_NODE_FLAGS = ["--expose-gc", "--stack-size=3900"]
# Numbers of one process never appear in the next one, so that a tensor of a process that died is not taken for another.
_NUMBERS_PER_PROCESS = 10**9


class _Given:
    """What the body of a block is given."""

    def __init__(self, values: list) -> None:
        self.values = values


class Channel:
    """A Node process and the pipes to it. Threads take turns: one conversation at a time."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.started = 0
        self.blocks = 0
        self._released: set[int] = set()
        self._released_before: set[int] = set()
        self.on_call: Callable[[dict], Any] = lambda message: None
        self.on_gone: Callable[[list[int]], None] = lambda ids: None
        self.find_raised: Callable[[int], BaseException | None] = lambda number: None
        self.keep_raised: Callable[[BaseException], int] = lambda error: 0
        self._lock = threading.RLock()
        self._inbox = b""
        self._read_fd = self._write_fd = -1

    def start(self) -> None:
        """Starts a process, and waits until the engine is ready."""
        self.started += 1
        to_node, ours_out = os.pipe()
        ours_in, from_node = os.pipe()
        first = self.started * _NUMBERS_PER_PROCESS
        node = os.environ.get("EG_NODE", "node")
        command = [node, *_NODE_FLAGS, str(_SERVER), *map(str, (to_node, from_node, first))]
        self.process = subprocess.Popen(
            command, pass_fds=(to_node, from_node), stdin=subprocess.DEVNULL
        )
        os.close(to_node)
        os.close(from_node)
        self._read_fd, self._write_fd, self._inbox = ours_in, ours_out, b""
        self._lock = threading.RLock()
        self._released.clear()
        self._released_before.clear()
        self.blocks = 0
        self._wait()

    def stop(self) -> None:
        """Ends the process, whatever it is doing."""
        if self.process is None:
            return
        os.close(self._write_fd)
        os.close(self._read_fd)
        self.process.kill()
        self.process.wait()
        self.process = None

    def release(self, number: int) -> None:
        """Lets JavaScript let go of an object."""
        self._released.add(number)

    def keep(self, number: int) -> None:
        """Takes release() back, because JavaScript has sent the object again."""
        self._released.discard(number)
        self._released_before.discard(number)

    def request(self, message: dict) -> Any:
        """Sends a request and returns its answer, which is still encoded."""
        with self._lock:
            self.send(message)
            return self._wait()

    def enter(self, message: dict) -> Any:
        """Sends a request whose function calls a block: returns what the block is given, still encoded, when it is entered."""
        self._lock.acquire()
        try:
            self.send(message)
            given = self._wait(until_entered=True)
            if not isinstance(given, _Given):
                raise Unsupported("shim: the function returned without calling its body")
        except BaseException:
            self._lock.release()
            raise
        self.blocks += 1
        return given.values

    def leave(self, message: dict) -> Any:
        """Ends the innermost block with a result or an exception, and returns the answer to its request."""
        self.blocks -= 1
        try:
            self.send(message)
            return self._wait()
        finally:
            self._lock.release()

    def send(self, message: dict) -> None:
        """Sends a message, with the numbers of objects that Python had let go when it sent the one before: this one may name the others."""
        if self._released_before:
            message["d"] = list(self._released_before)
        self._released_before, self._released = self._released, set()
        body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
        left = memoryview(struct.pack("<I", len(body)) + body)
        try:
            while left:
                left = left[os.write(self._write_fd, left) :]
        except OSError as error:
            raise BridgeDied(str(error)) from error

    def _wait(self, until_entered: bool = False) -> Any:
        while True:
            message = self._receive()
            for text in message.get("w", ()):
                warnings.warn(text, UserWarning, stacklevel=5)
            if message.get("g"):
                self.on_gone(message["g"])
            if "cb" in message:
                self._serve(message)
            elif "err" in message:
                self._raise(message["err"])
            elif until_entered and message.get("entered"):
                return _Given(message["a"])
            else:
                return message["ok"]

    def _serve(self, message: dict) -> None:
        try:
            reply = {"t": "return", "v": self.on_call(message)}
        except BridgeDied:
            raise
        except BaseException as error:
            number = self.keep_raised(error)
            reply = {"t": "raise", "id": number, "s": f"{type(error).__name__}: {error}"}
        self.send(reply)

    def _raise(self, described: dict) -> None:
        if "python" in described:
            error = self.find_raised(described["python"])
            if error is not None:
                raise error
        if "code" in described:
            raise error_of(described["code"], described["m"])
        text = f"{described.get('name')}: {described.get('m')}"
        raise Unsupported(f"JavaScript {text}\n{described.get('stack', '')[:600]}")

    def _receive(self) -> dict:
        (size,) = struct.unpack("<I", self._take(4))
        return json.loads(self._take(size))

    def _take(self, count: int) -> bytes:
        while len(self._inbox) < count:
            try:
                got = os.read(self._read_fd, 1 << 20)
            except OSError as error:
                raise BridgeDied(str(error)) from error
            if not got:
                status = self.process.wait() if self.process else None
                raise BridgeDied(f"the Node process ended with {status}")
            self._inbox += got
        head, self._inbox = self._inbox[:count], self._inbox[count:]
        return head


channel = Channel()
atexit.register(channel.stop)
