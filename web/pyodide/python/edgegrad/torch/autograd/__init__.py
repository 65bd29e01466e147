"""torch.autograd."""

from __future__ import annotations

from typing import Any

from .. import _bridge
from .._calls import function as _call
from .._modes import Mode, enable_grad, inference_mode, is_grad_enabled as is_grad_enabled, no_grad, set_grad_enabled
from .._tensor import Tensor
from . import forward_ad, functional, grad_mode, graph
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .node import Node

class _VariableType(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)


class _Engine:
    """What PyTorch calls the object that runs backward."""

    @staticmethod
    def queue_callback(callback: Any) -> None:
        """Calls a function at the end of the backward that runs."""
        _call("autograd.graph", "queueCallback", [callback], None, "hold")


class Variable(metaclass=_VariableType):
    """What tensors with gradients were called before."""

    _execution_engine = _Engine

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        return data.detach().requires_grad_() if requires_grad else data


def _list(value: Any) -> list:
    return [graph.as_edge(value)] if isinstance(value, (Tensor, graph.GradientEdge)) else [graph.as_edge(one) for one in value]


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
    """The gradients of outputs with respect to inputs, always as a tuple."""
    _bridge.flush()
    given = _list(outputs)
    options: dict = {"create_graph": create_graph}
    if grad_outputs is not None:
        options["grad_outputs"] = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    for key, value in (("retain_graph", retain_graph), ("allow_unused", allow_unused)):
        if value is not None:
            options[key] = value
    if is_grads_batched:
        options["is_grads_batched"] = True
    if materialize_grads:
        options["materialize_grads"] = True
    return tuple(_call("autograd", "grad", [given, _list(inputs)], options))


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Adds the gradients of the sum of tensors to the leaves."""
    if grad_variables is not None:
        raise TypeError("backward(grad_variables=...): write grad_tensors")
    _bridge.flush()
    options: dict = {"create_graph": create_graph}
    if retain_graph is not None:
        options["retain_graph"] = retain_graph
    if inputs is not None:
        options["inputs"] = _list(inputs)
    grads = None if grad_tensors is None else _list(grad_tensors)
    _call("autograd", "backward", [_list(tensors)] if grads is None else [_list(tensors), grads], options)


class detect_anomaly(Mode):
    """Backward raises at the first NaN and names the operation."""

    path = "autograd.detectAnomaly"

    def __init__(self, check_nan: bool = True) -> None:
        Mode.__init__(self)
        self.check_nan = check_nan

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (), {"check_nan": self.check_nan}


class set_detect_anomaly(detect_anomaly):
    """detect_anomaly for a block, on or off."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        detect_anomaly.__init__(self, check_nan)
        self.mode = mode

    def __enter__(self) -> Any:
        return detect_anomaly.__enter__(self) if self.mode else self

    def __exit__(self, *failure: Any) -> None:
        if self.mode:
            detect_anomaly.__exit__(self, *failure)


__all__ = ["Function", "Variable", "backward", "detect_anomaly", "enable_grad", "forward_ad", "functional", "grad", "gradcheck"]
__all__ += ["gradgradcheck", "graph", "inference_mode", "no_grad", "set_grad_enabled"]
