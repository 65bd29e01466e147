"""Modes: grad modes, inference mode, autocast and others, for `with`, as decorators, and around generators."""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import Any, Callable

from ._bridge import JsException, js, python_error
from ._calls import encode_call, function


def enter(path: str, args: tuple = (), options: dict | None = None) -> int:
    """Enters a mode of JavaScript and returns the number that ends it."""
    signature: list[str] = []
    flat: list = []
    encode_call(args, options, signature, flat)
    try:
        return js.mode(path, "".join(signature), *flat)
    except JsException as error:
        raise python_error(error) from None


class Mode:
    """A mode: `with mode:`, `@mode`, `@mode()`. A generator has it while it runs, and its caller while it waits does not."""

    path = ""

    def __init__(self) -> None:
        # The numbers of the modes that are on, which sweep() looks for.
        self._open: list[int] = []

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (), None

    def __enter__(self) -> Any:
        self._open.append(enter(self.path, *self._arguments()))
        return self

    def __exit__(self, *failure: Any) -> None:
        js.endMode(self._open[-1])
        self._open.pop()

    def __call__(self, function: Callable) -> Callable:
        if inspect.isgeneratorfunction(function):
            return self._around_generator(function)

        @functools.wraps(function)
        def call(*args: Any, **keywords: Any) -> Any:
            with self:
                return function(*args, **keywords)

        return call

    def _around_generator(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def generate(*args: Any, **keywords: Any) -> Any:
            running = function(*args, **keywords)
            try:
                with self:
                    found = running.send(None)
                while True:
                    try:
                        sent = yield found
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        with self:
                            found = running.throw(error)
                    else:
                        with self:
                            found = running.send(sent)
            except StopIteration as stop:
                return stop.value
            finally:
                with self:
                    running.close()

        return generate


class _Plain(Mode):
    """A mode without arguments, which may decorate without being called: `@torch.no_grad`."""

    def __new__(cls, function: Callable | None = None) -> Any:
        made = object.__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(function)


class no_grad(_Plain):
    """No operation is recorded."""

    path = "noGrad"

    def __init__(self, function: Callable | None = None) -> None:
        Mode.__init__(self)


class enable_grad(no_grad):
    """Operations are recorded."""

    path = "enableGrad"


class inference_mode(Mode):
    """As no_grad, and tensors made in it can never be part of a graph."""

    path = "inferenceMode"

    def __new__(cls, mode: Any = True) -> Any:
        made = object.__new__(cls)
        if not callable(mode):
            return made
        made.__init__(True)  # type: ignore[misc]
        return made(mode)

    def __init__(self, mode: Any = True) -> None:
        Mode.__init__(self)
        self.mode = mode

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (bool(self.mode),), None


class set_grad_enabled(Mode):
    """Whether operations are recorded: from the call on, or for a block with `with`."""

    path = "setGradEnabled"

    def __init__(self, mode: bool) -> None:
        Mode.__init__(self)
        self.mode = bool(mode)
        self._end: int | None = enter(self.path, (self.mode,))

    def __del__(self) -> None:
        if self.__dict__.get("_end") is not None:
            # It was called, not entered: the mode remains.
            js.keepMode(self._end)

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (self.mode,), None

    def __enter__(self) -> Any:
        if self._end is None:
            return Mode.__enter__(self)
        # The call has entered it.
        self._open.append(self._end)
        self._end = None
        return self

    def __call__(self, function: Callable) -> Callable:
        if self._end is not None:
            js.endMode(self._end)
            self._end = None
        return Mode.__call__(self, function)


def is_grad_enabled() -> bool:
    return function("", "isGradEnabled", [])


def is_inference_mode_enabled() -> bool:
    return function("", "isInferenceModeEnabled", [])


def without_cuda(name: str, enabled: bool) -> bool:
    """Warns, as PyTorch does where there is no CUDA, that mixed precision for it is off. Returns False."""
    if enabled:
        warnings.warn(f'{name}(device_type="cuda"): there is no CUDA in a page, so it does nothing', stacklevel=3)
    return False


class autocast(Mode):
    """Mixed precision: products round their operands to `dtype`. Backward goes outside."""

    path = "autocast"

    def __init__(self, device_type: str = "cpu", dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        Mode.__init__(self)
        if device_type == "cuda":
            enabled, device_type = without_cuda("autocast", enabled), "cpu"
        if device_type not in ("cpu", "webgpu"):
            raise RuntimeError(f'autocast(device_type="{device_type}"): the devices of edgegrad are "cpu" and "webgpu"')
        self.options = {"enabled": bool(enabled)}
        if dtype is not None:
            self.options["dtype"] = dtype

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (), self.options
