"""torch.autograd.graph: what is saved for backward."""

from __future__ import annotations

from typing import Any, Callable

from .._calls import function
from .._modes import Mode


class saved_tensors_hooks(Mode):
    """What is saved inside is what `pack_hook` returns, and backward gets it through `unpack_hook`."""

    path = "autograd.graph.savedTensorsHooks"

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        Mode.__init__(self)
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def _arguments(self) -> tuple[tuple, dict | None]:
        # JavaScript keeps a number for what the hook has packed, which may be any object of Python.
        kept: dict[int, Any] = {}

        def pack(tensor: Any) -> int:
            packed = self.pack_hook(tensor)
            kept[len(kept)] = packed
            return len(kept) - 1

        def unpack(number: int) -> Any:
            return self.unpack_hook(kept[number])

        return (pack, unpack), None


class save_on_cpu(Mode):
    """What is saved inside is kept in the CPU's memory."""

    path = "autograd.graph.saveOnCpu"

    def __init__(self, pin_memory: bool = False, device_type: str = "webgpu") -> None:
        Mode.__init__(self)
        self.pin_memory = pin_memory

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (), {"pin_memory": self.pin_memory}


class disable_saved_tensors_hooks(Mode):
    """Inside, hooks on saved tensors are an error with `error_message`."""

    path = "autograd.graph.disableSavedTensorsHooks"

    def __init__(self, error_message: str) -> None:
        Mode.__init__(self)
        self.error_message = error_message

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (self.error_message,), None


def increment_version(tensor: Any) -> None:
    function("autograd.graph", "incrementVersion", [tensor])
