"""torch.nn.utils."""

from __future__ import annotations

from typing import Any, Iterable

from ..._calls import camel, function, names_of
from ..._tensor import Tensor
from . import rnn


def _list(parameters: Any) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Scales gradients in place so that their common norm is at most max_norm; returns the norm before."""
    options = {"norm_type": norm_type, "error_if_nonfinite": error_if_nonfinite}
    return function("nn.utils", "clipGradNorm_", [_list(parameters), max_norm], options)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Limits every element of the gradients in place."""
    function("nn.utils", "clipGradValue_", [_list(parameters), clip_value])


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    options = {"norm_type": norm_type, "error_if_nonfinite": error_if_nonfinite}
    return function("nn.utils", "getTotalNorm", [_list(tensors)], options)


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scales gradients in place by what brings their common norm, which is given, to at most max_norm."""
    function("nn.utils", "clipGradsWithNorm_", [_list(parameters), max_norm, total_norm])


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    from ..._functions import find

    return find("cat")([param.reshape(-1) for param in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    start = 0
    for param in parameters:
        size = param.numel()
        param.data = vec[start : start + size].view_as(param).detach()
        start += size


_NORMS = ("weight_norm", "remove_weight_norm", "spectral_norm", "remove_spectral_norm")


def __getattr__(name: str) -> Any:
    import importlib

    if name in ("prune", "parametrize", "parametrizations"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in _NORMS:
        return getattr(importlib.import_module(f"{__name__}.norms"), name)
    if not name.startswith("__") and camel(name) in names_of("nn.utils"):
        raise NotImplementedError(f"torch.nn.utils.{name}: modules in Python have no such hooks of edgegrad; use it from JavaScript")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector", "rnn", "vector_to_parameters"]
