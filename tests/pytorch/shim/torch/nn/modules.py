"""torch.nn.modules: the classes of torch.nn, and hooks of all modules in `module`."""

from __future__ import annotations

import sys
from typing import Any, Callable

from .._bridge import Unsupported, function, names
from stubs import MissingModule
from stubs import module as _make
from .module import LazyModuleMixin, Module, hook_of


# The handles of the hooks of all modules.
_handles: list[Any] = []


class _ModuleFile(MissingModule):
    """torch.nn.modules.module, where tests put empty dictionaries to remove the hooks of all modules."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_global_"):
            super().__setattr__(name, value)
            return
        while _handles:
            _handles.pop().remove()


def _global(name: str) -> Callable:
    def register(hook: Callable, **options: Any) -> Any:
        given = {key: value for key, value in options.items() if value}
        args = [hook_of(hook, name, options.get("with_kwargs", False))]
        _handles.append(function("nn", name, args, given))
        return _handles[-1]

    return register


def _deprecated(hook: Callable) -> Any:
    raise Unsupported("n/a: register_module_backward_hook, which PyTorch has deprecated")


_make(
    "torch.nn.modules.module",
    Module=Module,
    register_module_backward_hook=_deprecated,
    register_module_forward_hook=_global("registerModuleForwardHook"),
    register_module_forward_pre_hook=_global("registerModuleForwardPreHook"),
    register_module_full_backward_hook=_global("registerModuleFullBackwardHook"),
    register_module_full_backward_pre_hook=_global("registerModuleFullBackwardPreHook"),
)
lazy = _make("torch.nn.modules.lazy", LazyModuleMixin=LazyModuleMixin)
module = sys.modules["torch.nn.modules.module"]
module.__class__ = _ModuleFile


# The layers that edgegrad has.
__all__ = sorted(name for name in names["spaces"]["nn"] if name[:1].isupper())


def __getattr__(name: str) -> Any:
    return getattr(sys.modules["torch.nn"], name)
