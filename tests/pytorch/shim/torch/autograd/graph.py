"""torch.autograd.graph."""

from __future__ import annotations

from typing import Any, Callable

from .._bridge import BODY, Block, encode, function, get, opaque
from stubs import otherwise_missing
from .._tensor import Tensor
from .node import Node


class GradientEdge:
    """A node and the number of its output."""

    def __init__(self, node: Node, output_nr: int, ownership_token: Any = None) -> None:
        self.node, self.output_nr = node, output_nr

    @property
    def _js_value(self) -> Any:
        return encode({"node": self.node, "outputNr": self.output_nr})

    def __iter__(self) -> Any:
        return iter((self.node, self.output_nr))


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    edge = function("autograd.graph", "getGradientEdge", [tensor])
    return GradientEdge(edge["node"], edge["outputNr"])


class _Packed:
    """What `pack` returned: JavaScript hands it back to `unpack`."""

    def __init__(self, value: Any) -> None:
        self._js_value = encode(value) if isinstance(value, Tensor) else opaque(value)


class saved_tensors_hooks(Block):
    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        args = [lambda tensor: _Packed(pack_hook(tensor)), unpack_hook, BODY]
        super().__init__("autograd.graph", "savedTensorsHooks", args)


class save_on_cpu(Block):
    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__("autograd.graph", "saveOnCpu", [BODY])


class disable_saved_tensors_hooks(Block):
    def __init__(self, error_message: str) -> None:
        self._message = error_message
        super().__init__("autograd.graph", "disableSavedTensorsHooks", [error_message, BODY])

    def __call__(self, decorated: Callable) -> Callable:
        def inner(*args: Any, **keywords: Any) -> Any:
            with disable_saved_tensors_hooks(self._message):
                return decorated(*args, **keywords)

        return inner


class _Cloned:
    """The copies of saved tensors, of which edgegrad only says how many there are."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def items(self) -> Any:
        return range(get(self._context, "clonedCount"))


class _MutationContext:
    def __init__(self, context: Any) -> None:
        self.cloned = _Cloned(context)
        self._context = context

    @property
    def tid_to_weakhandle(self) -> Any:
        return dict.fromkeys(range(get(self._context, "savedCount")))


class allow_mutation_on_saved_tensors(Block):
    def __init__(self) -> None:
        super().__init__("autograd.graph", "allowMutationOnSavedTensors", [BODY])

    def __enter__(self) -> Any:
        super().__enter__()
        return _MutationContext(self.given[0])


def increment_version(tensor: Any) -> None:
    given = [tensor] if isinstance(tensor, Tensor) else list(tensor)
    function("autograd.graph", "incrementVersion", [given])


def register_multi_grad_hook(tensors: Any, fn: Callable, *, mode: str = "all") -> Any:
    return function("autograd.graph", "registerMultiGradHook", [list(tensors), fn, mode])


__getattr__ = otherwise_missing("torch.autograd.graph")
