"""torch.autograd.functional."""

from __future__ import annotations

from typing import Any, Callable

from .._calls import camel, function, with_tensors_in_tuples


def _derivative(name: str) -> Callable:
    def call(func: Callable, inputs: Any, *args: Any, **options: Any) -> Any:
        given = list(inputs) if isinstance(inputs, tuple) else inputs
        rest = [list(one) if isinstance(one, tuple) else one for one in args]
        made = function("autograd.functional", camel(name), [func, given, *rest], options, "hold")
        return _tuples(made)

    call.__name__ = name
    return call


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else with_tensors_in_tuples(value)


jacobian, hessian, vjp, jvp, hvp, vhp = map(_derivative, ("jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"))
