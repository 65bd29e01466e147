"""torch.autograd.graph: what is saved for backward."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from .._bridge import Opaque
from .._calls import function
from .._modes import Mode
from .._tensor import Tensor
from .node import Node


class saved_tensors_hooks(Mode):
    """What is saved inside is what `pack_hook` returns, and backward gets it through `unpack_hook`."""

    path = "autograd.graph.savedTensorsHooks"

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        Mode.__init__(self)
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def _arguments(self) -> tuple[tuple, dict | None]:
        def pack(tensor: Tensor) -> Any:
            # It may be any object of Python.
            packed = self.pack_hook(tensor)
            return packed if isinstance(packed, Tensor) else Opaque(packed)

        return (pack, self.unpack_hook), None


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
    """Counts a change of tensors that the engine has not seen."""
    given = [tensor] if isinstance(tensor, Tensor) else list(tensor)
    function("autograd.graph", "incrementVersion", [given])


class GradientEdge(NamedTuple):
    """A node and the number of its output, for which gradients can be asked."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Returns the edge at which the gradient of a tensor arrives."""
    edge = function("autograd.graph", "getGradientEdge", [tensor])
    return GradientEdge(edge["node"], edge["outputNr"])


def as_edge(value: Any) -> Any:
    """Returns an edge as JavaScript takes it; leaves tensors."""
    return {"node": value[0], "outputNr": value[1]} if isinstance(value, GradientEdge) else value


def register_multi_grad_hook(tensors: Any, fn: Callable, *, mode: str = "all") -> Any:
    """Calls `fn` once per backward call: with the gradients of all tensors, or in mode "any" with the first one."""
    return _Registered(function("autograd.graph", "registerMultiGradHook", [list(tensors), fn, mode], None, "hold")["remove"])


class _Registered:
    """A hook that can be removed."""

    def __init__(self, remove: Callable[[], None]) -> None:
        self.remove = remove

    def __enter__(self) -> _Registered:
        return self

    def __exit__(self, *failure: Any) -> None:
        self.remove()
