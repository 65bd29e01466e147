"""Modes of gradients, as `with` blocks and decorators."""

from __future__ import annotations

import importlib
from typing import Any, Callable

from ._bridge import BODY, Block, Mode, function


class _Decorator:
    """A mode that is entered around every call of what it decorates. How is in PyTorch's own file."""

    def _mode(self) -> Mode:
        raise NotImplementedError

    def clone(self) -> _Decorator:
        return type(self)()

    def __enter__(self) -> None:
        self._entered = getattr(self, "_entered", [])
        self._entered.append(self._mode().__enter__())

    def __exit__(self, *given: Any) -> None:
        self._entered.pop().__exit__(*given)

    def __call__(self, decorated: Callable) -> Callable:
        contexts = importlib.import_module("torch.utils._contextlib")
        return contexts.context_decorator(self.clone, decorated)


class no_grad(_Decorator):
    _name = "noGrad"

    def __new__(cls, decorated: Any = None) -> Any:
        return object.__new__(cls) if decorated is None else cls()(decorated)

    def __init__(self, decorated: Any = None) -> None:
        pass

    def _mode(self) -> Mode:
        return Mode(self._name)


class enable_grad(no_grad):
    _name = "enableGrad"


class inference_mode(_Decorator):
    def __new__(cls, mode: Any = True) -> Any:
        return cls()(mode) if callable(mode) else object.__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)

    def _mode(self) -> Mode:
        return Mode("inferenceMode", [] if self.mode else [False])


class set_grad_enabled(_Decorator):
    """Has its effect at once; as a block, until its end."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._before = is_grad_enabled()
        _set_grad(mode)

    def clone(self) -> set_grad_enabled:
        return set_grad_enabled(self.mode)

    def __call__(self, decorated: Callable) -> Callable:
        self.__exit__()
        return _Decorator.__call__(self, decorated)

    def __enter__(self) -> None:
        _set_grad(self.mode)

    def __exit__(self, *_: Any) -> None:
        _set_grad(self._before)


def _set_grad(mode: bool) -> None:
    """Changes the mode for good: the object that would restore it is dropped."""
    if is_grad_enabled() != mode:
        function("", "setGradEnabled", [mode])


class autocast(Block):
    """Mixed precision as a block; as a decorator it is missing."""

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, **_: Any) -> None:
        options = {"enabled": enabled} if dtype is None else {"enabled": enabled, "dtype": dtype}
        super().__init__("", "autocast", [BODY, options])


def is_grad_enabled() -> bool:
    return function("", "isGradEnabled")


def is_inference_mode_enabled() -> bool:
    return function("", "isInferenceModeEnabled")
