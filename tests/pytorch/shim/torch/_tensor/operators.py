"""Operators of Tensor."""

from __future__ import annotations

import numbers
from typing import Any, Callable

from .._bridge import function, method
from .tensor import Tensor, as_operand, torch

_OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "pow": "pow",
    "mod": "remainder",
    "floordiv": "floorDivide",
    "and": "bitwiseAnd",
    "or": "bitwiseOr",
    "xor": "bitwiseXor",
    "lshift": "bitwiseLeftShift",
    "rshift": "bitwiseRightShift",
}
_COMMUTATIVE = ("add", "mul", "and", "or", "xor")
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def as_tensor_like(value: Any, like: Tensor) -> Tensor:
    """Returns a Python number as a tensor of the dtype that the number has next to `like`."""
    value = as_operand(like, value)
    if isinstance(value, Tensor):
        return value
    dtype = like.dtype
    if isinstance(value, complex) and not dtype.is_complex:
        dtype = dtype.to_complex() if dtype.kind == "f" else torch().get_default_dtype().to_complex()
    elif isinstance(value, float) and dtype.kind not in "fc":
        dtype = torch().get_default_dtype()
    elif dtype.kind == "b" and not isinstance(value, bool):
        dtype = torch().int64
    return torch().tensor(value, dtype=dtype)


def _operator(name: str, make: Callable[[Tensor, Any], Any]) -> None:
    def forward(self: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, numbers.Number)) and not hasattr(other, "__array__"):
            return NotImplemented
        return make(self, other)

    setattr(Tensor, f"__{name}__", forward)


def _binary(js: str) -> Callable:
    return lambda self, other: method(self, js, [as_operand(self, other)])


def _reflected(js: str) -> Callable:
    return lambda self, other: function("", js, [as_tensor_like(other, self), self])


for _name, _js in _OPERATORS.items():
    _operator(_name, _binary(_js))
    _operator(f"i{_name}", _binary(f"{_js}_"))
    _operator(f"r{_name}", _binary(_js) if _name in _COMMUTATIVE else _reflected(_js))
_operator("matmul", _binary("matmul"))
_operator("rmatmul", _reflected("matmul"))
_operator("rsub", _binary("rsub"))
_operator("rtruediv", lambda self, other: method(method(self, "reciprocal"), "mul", [as_operand(self, other)]))
Tensor.__rdiv__ = Tensor.__rtruediv__
for _name in _COMPARISONS:
    _operator(_name, _binary(_name))

Tensor.__neg__ = lambda self: method(self, "neg")
Tensor.__pos__ = lambda self: self
Tensor.__abs__ = lambda self: method(self, "abs")
Tensor.__invert__ = lambda self: method(self, "bitwiseNot")
