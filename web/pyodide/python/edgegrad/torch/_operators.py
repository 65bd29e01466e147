"""The operators of Tensor and the methods that are called most: each calls one function of JavaScript with numbers alone."""

from __future__ import annotations

from typing import Any, Callable

from ._bridge import JsException, js, python_error
from ._declared import declared_function
from ._tensor import Tensor, _new

# A number goes as such; what has no `h` takes the slow way, and costs nothing where it does not happen.
_BINARY = '''
def {py}(self, other, _both=js.b_{js}, _integer=js.s_{js}, _float=js.f_{js}):
    try:
        kind = type(other)
        if kind is float:
            h = _float(self.h, other)
        elif kind is int:
            h = _integer(self.h, other)
        else:
            h = _both(self.h, other.h)
    except AttributeError:
        return _slow({js!r}, self, other)
    except JsException as error:
        raise python_error(error) from None
    made = _new(Tensor)
    made.h = h
    return made
'''
_IN_PLACE = '''
def {py}(self, other, _both=js.b_{js}, _integer=js.s_{js}, _float=js.f_{js}):
    try:
        kind = type(other)
        if kind is float:
            _float(self.h, other)
        elif kind is int:
            _integer(self.h, other)
        else:
            _both(self.h, other.h)
    except AttributeError:
        return _slow({js!r}, self, other)
    except JsException as error:
        raise python_error(error) from None
    return self
'''
_UNARY = '''
def {py}(self, *, _one=js.u_{js}):
    try:
        h = _one(self.h)
    except JsException as error:
        raise python_error(error) from None
    made = _new(Tensor)
    made.h = h
    return made
'''
# Those that may have arguments.
_REDUCTION = '''
def {py}(self, *args, _one=js.u_{js}, **keywords):
    if args or keywords:
        return _general({js!r})(self, *args, **keywords)
    try:
        h = _one(self.h)
    except JsException as error:
        raise python_error(error) from None
    made = _new(Tensor)
    made.h = h
    return made
'''
_OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "matmul": "matmul",
    "pow": "pow",
    "mod": "remainder",
    "floordiv": "floorDivide",
    "and": "bitwiseAnd",
    "or": "bitwiseOr",
    "xor": "bitwiseXor",
    "lshift": "bitwiseLeftShift",
    "rshift": "bitwiseRightShift",
    "eq": "eq",
    "ne": "ne",
    "lt": "lt",
    "le": "le",
    "gt": "gt",
    "ge": "ge",
}
_REFLECTED = ("add", "mul", "and", "or", "xor")
_AUGMENTED = {
    "add": "add_",
    "sub": "sub_",
    "mul": "mul_",
    "truediv": "div_",
    "pow": "pow_",
    "mod": "remainder_",
    "floordiv": "floorDivide_",
    "and": "bitwiseAnd_",
    "or": "bitwiseOr_",
    "xor": "bitwiseXor_",
}
_METHODS = ("mul", "matmul", "eq", "ne", "lt", "le", "gt", "ge", "bmm", "mm")
_UNARIES = "relu exp log tanh sigmoid neg sqrt square abs sin cos detach reciprocal".split()
_REDUCTIONS = ("clone", "sum", "mean")

_found: dict[str, Callable] = {}


def _general(name: str) -> Callable:
    found = _found.get(name)
    if found is None:
        found = declared_function("Tensor", name)
        assert found is not None, name
        _found[name] = found
    return found


def _slow(name: str, self: Tensor, other: Any) -> Any:
    kinds = (Tensor, bool, complex, int, float)
    is_operand = isinstance(other, kinds) or hasattr(other, "__array__") or hasattr(other, "__float__")
    if not is_operand or isinstance(other, str):
        return NotImplemented
    return _general(name)(self, other)


def _lifted(name: str) -> Callable:
    def call(self: Tensor, other: Any) -> Any:
        from ._creation import tensor

        if isinstance(other, Tensor):
            return getattr(Tensor, name)(other, self)
        if not isinstance(other, (bool, int, float, complex)):
            return NotImplemented
        # A number takes the tensor's dtype where its kind allows that, as in PyTorch.
        kinds = {bool: "bifc", int: "ifc", float: "fc", complex: "c"}
        fits = self.dtype.kind in kinds[type(other)]
        lifted = tensor(other, dtype=self.dtype if fits else None, device=self.device)
        return getattr(Tensor, name)(lifted, self)

    return call


def _define() -> None:
    made: dict[str, Any] = {}
    source = "".join(_BINARY.format(py=f"__{name}__", js=op) for name, op in _OPERATORS.items())
    source += "".join(_BINARY.format(py=f"__r{name}__", js=_OPERATORS[name]) for name in _REFLECTED)
    source += "".join(_BINARY.format(py=name, js=name) for name in _METHODS)
    source += "".join(_IN_PLACE.format(py=f"__i{name}__", js=op) for name, op in _AUGMENTED.items())
    source += "".join(_UNARY.format(py=name, js=name) for name in _UNARIES)
    source += "".join(_REDUCTION.format(py=name, js=name) for name in _REDUCTIONS)
    # In a namespace of its own, where `abs` and `sum` may be the methods.
    exec(source, dict(globals()), made)
    made["__neg__"], made["__abs__"] = made["neg"], made["abs"]
    for name, member in made.items():
        member.__qualname__ = f"Tensor.{name}"
        setattr(Tensor, name, member)


_define()
for _name in ("truediv", "pow", "mod", "floordiv", "matmul", "lshift", "rshift"):
    setattr(Tensor, f"__r{_name}__", _lifted(f"__{_name}__"))
setattr(Tensor, "__rdiv__", getattr(Tensor, "__rtruediv__"))
setattr(Tensor, "__invert__", lambda self: _general("bitwiseNot")(self))
setattr(Tensor, "__pos__", lambda self: self)
setattr(Tensor, "__rsub__", lambda self, other: _slow("rsub", self, other))
