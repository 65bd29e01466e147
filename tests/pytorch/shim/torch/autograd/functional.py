"""torch.autograd.functional. The strategy of a Jacobian changes only how it is computed."""

from __future__ import annotations

from typing import Any, Callable

from .._bridge import function


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _options(create_graph: bool, strict: bool) -> dict:
    return {key: True for key, value in (("create_graph", create_graph), ("strict", strict)) if value}


def _run(name: str, func: Callable, args: list, options: dict) -> Any:
    return function("autograd.functional", name, [lambda *given: _listed(func(*given)), *args], options)


def _of_function(name: str) -> Callable:
    def call(
        func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, **implementation: Any
    ) -> Any:
        return _run(name, func, [_listed(inputs)], _options(create_graph, strict))

    return call


def _of_function_and_vector(name: str) -> Callable:
    def call(
        func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
    ) -> Any:
        vector = [] if v is None else [_listed(v)]
        return _run(name, func, [_listed(inputs), *vector], _options(create_graph, strict))

    return call


jacobian, hessian = _of_function("jacobian"), _of_function("hessian")
vjp, jvp, vhp, hvp = map(_of_function_and_vector, ("vjp", "jvp", "vhp", "hvp"))
