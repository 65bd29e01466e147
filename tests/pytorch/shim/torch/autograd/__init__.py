"""torch.autograd."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from .._bridge import BODY, Block, Unsupported
from .._bridge import function as call
from .._modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from stubs import otherwise_missing
from .._tensor import Tensor
from .function import Function, once_differentiable
from .gradcheck import gradcheck, gradgradcheck
from .node import Node


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value


def _sequence(value: Any) -> Any:
    """Returns what stands for several tensors or edges as a list; one of them stays alone."""
    is_one = isinstance(value, (bridge.JSObject, dict)) or hasattr(value, "_js_value")
    return value if is_one else list(value)


def _given(**keywords: Any) -> dict:
    return {key: value for key, value in keywords.items() if value not in (None, False)}


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple:
    keywords = _given(
        create_graph=create_graph,
        is_grads_batched=is_grads_batched,
        materialize_grads=materialize_grads,
    )
    if grad_outputs is not None:
        keywords["grad_outputs"] = _listed(grad_outputs)
    for name, value in (("retain_graph", retain_graph), ("allow_unused", allow_unused)):
        if value is not None:
            keywords[name] = value
    return call("autograd", "grad", [_sequence(outputs), _sequence(inputs)], keywords)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    keywords = _given(create_graph=create_graph)
    gradients = grad_variables if grad_tensors is None else grad_tensors
    for name, value in (("grad_tensors", gradients), ("retain_graph", retain_graph), ("inputs", inputs)):
        if value is not None:
            keywords[name] = _listed(value)
    call("autograd", "backward", [_listed(tensors)], keywords)


class _VariableType(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)


class _Engine:
    @staticmethod
    def queue_callback(callback: Any) -> None:
        call("autograd.graph", "queueCallback", [callback])

    @staticmethod
    def run_backward(*_: Any, **__: Any) -> None:
        raise Unsupported("n/a: run_backward of PyTorch's engine")


class Variable(metaclass=_VariableType):
    """What tensors with gradients were called before: a detached tensor."""

    _execution_engine = _Engine

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        return data.detach().requires_grad_() if requires_grad else data


class detect_anomaly(Block):
    def __init__(self, check_nan: bool = True) -> None:
        super().__init__("autograd", "detectAnomaly", [BODY, *([] if check_nan else [{"checkNan": False}])])


class set_detect_anomaly:
    """Only as a block: edgegrad has no state that a call could set."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._block = detect_anomaly(check_nan) if mode else None

    def __enter__(self) -> None:
        if self._block is not None:
            self._block.__enter__()

    def __exit__(self, *given: Any) -> bool:
        return False if self._block is None else self._block.__exit__(*given)


def kineto_available() -> bool:
    return False


class _unsafe_preserve_version_counter(Block):
    def __init__(self, tensors: Any) -> None:
        given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        super().__init__("autograd.graph", "unsafePreserveVersionCounter", [given, BODY])


__getattr__ = otherwise_missing("torch.autograd")
