"""torch.nn.Parameter, and what else is about a tensor's identity: data, copies, pickles."""

from __future__ import annotations

import array
from typing import Any

from ._bridge import JsException, js, python_error, remember
from ._tensor import Tensor
from ._types import dtype



class Parameter(Tensor):
    """A tensor that a module's parameters() returns."""

    __slots__ = ()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            from ._creation import empty

            data = empty(0)
        made = object.__new__(cls)
        try:
            made.h = js.parameter(data.h, bool(requires_grad))
        except JsException as error:
            raise python_error(error) from None
        remember(made)
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """Everything is done in __new__, so that a copy needs no arguments."""


class Buffer(Tensor):
    """A tensor that a module's buffers() returns, when assigned as an attribute."""

    __slots__ = ()
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        if data is None:
            from ._creation import empty

            data = empty(0)
        made = object.__new__(cls)
        alias = data.detach()
        # The number belongs to this object from now on.
        made.h = alias.h
        del alias.h
        remember(made)
        made.persistent = persistent
        return made

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        """Everything is done in __new__."""


# How often a tensor has become another tensor of JavaScript, which optimizers have to be told.
replaced = [0]


def set_data(self: Tensor, value: Tensor) -> None:
    """Gives a tensor the elements of another, as `x.data = value` does: x remains the same object, outside of every graph."""
    if not isinstance(value, Tensor):
        raise TypeError(f"x.data = value: expected a tensor, got a {type(value).__name__}")
    if value.shape == self.shape and value.dtype is self.dtype and value.device == self.device:
        self.detach().copy_(value.detach())
        return
    _become(self, value.detach().clone(), "x.data = value with another shape, dtype or device")


def _become(self: Tensor, value: Tensor, what: str) -> None:
    """Makes a leaf another tensor of JavaScript, the same object of Python."""
    if not self.is_leaf:
        raise RuntimeError(f"{what} is only possible for a leaf")
    requires = self.requires_grad
    made = Parameter(value, requires) if isinstance(self, Parameter) else value.requires_grad_(requires)
    replaced[0] += 1
    # The objects change places: what JavaScript knew of the old one, as an optimizer does, stays with it.
    self.h, made.h = made.h, self.h
    remember(self)
    remember(made)
    self.__dict__.pop("_shape", None)
    self.__dict__.pop("_grad", None)


def _set(self: Tensor, source: Tensor | None = None, *rest: Any) -> Tensor:
    """Gives a tensor the memory of another of its dtype: both show the same elements."""
    if not isinstance(source, Tensor) or rest:
        raise NotImplementedError("Tensor.set_(): only possible with a tensor; storages are no objects of their own in edgegrad")
    if source.dtype is not self.dtype or source.device != self.device:
        raise RuntimeError(f"set_(): expected a tensor of {self.dtype} on {self.device}, got one of {source.dtype} on {source.device}")
    _become(self, source.detach(), "set_()")
    return self


def _reduce(self: Tensor, protocol: Any) -> tuple:
    if not self.is_leaf and self.requires_grad:
        raise RuntimeError("only leaves can be pickled; detach() the tensor first")
    from ._reading import elements

    kept = {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
    arguments = (type(self), bytes(elements(self)), self.dtype, tuple(self.shape), self.requires_grad, str(self.device), kept)
    return (_rebuild, arguments)


def _rebuild(cls: type, raw: bytes, kind: dtype, shape: tuple, requires_grad: bool, place: str, kept: dict) -> Tensor:
    from ._creation import from_elements

    code = kind.code
    elements = array.array(code)
    elements.frombytes(raw)
    made = from_elements(elements, kind, shape)
    if place != "cpu":
        made = made.to(place)
    if cls is Parameter:
        made = Parameter(made, requires_grad)
    elif requires_grad:
        made.requires_grad_()
    made.__dict__.update(kept)
    return made


def _deepcopy(self: Tensor, memo: dict) -> Tensor:
    known = memo.get(id(self))
    if known is not None:
        return known
    if not self.is_leaf:
        raise RuntimeError("only leaves, which the user has made, can be copied deeply; detach() the tensor first")
    copied = self.detach().clone()
    if isinstance(self, Parameter):
        made: Tensor = Parameter(copied, self.requires_grad)
    elif isinstance(self, Buffer):
        made = Buffer(copied, persistent=self.persistent)
    else:
        made = copied.requires_grad_(self.requires_grad)
    if self.grad is not None:
        made.grad = self.grad.detach().clone()
    made.__dict__.update({k: v for k, v in self.__dict__.items() if not k.startswith("_")})
    memo[id(self)] = made
    return made


def _fixed(name: str) -> Any:
    """A method that would give a tensor other memory."""

    def call(self: Tensor, *args: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"Tensor.{name}(): a tensor of edgegrad keeps the memory that it was made with; use copy_() or a new tensor")

    call.__name__ = name
    return call


for _name in ("resize_", "resize_as_", "as_strided_"):
    setattr(Tensor, _name, _fixed(_name))
setattr(Tensor, "set_", _set)
setattr(Tensor, "__reduce_ex__", _reduce)
setattr(Tensor, "__deepcopy__", _deepcopy)
setattr(Tensor, "__copy__", lambda self: Tensor.view_as(self, self).detach().requires_grad_(self.requires_grad))
