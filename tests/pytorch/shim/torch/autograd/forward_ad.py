"""torch.autograd.forward_ad."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._bridge import BODY, Block, function
from stubs import otherwise_missing
from .._tensor import Tensor

_entered: list[dual_level] = []


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent."""

    primal: Any
    tangent: Any


class dual_level(Block):
    def __init__(self) -> None:
        super().__init__("autograd.forwardAd", "dualLevel", [BODY])

    def __enter__(self) -> int:
        super().__enter__()
        return 0


def enter_dual_level() -> int:
    _entered.append(dual_level())
    return _entered[-1].__enter__()


def exit_dual_level(*, level: int | None = None) -> None:
    _entered.pop().__exit__()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    return function("autograd.forwardAd", "makeDual", [tensor, tangent])


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    found = function("autograd.forwardAd", "unpackDual", [tensor])
    return UnpackedDualTensor(found["primal"], found["tangent"])


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return _level()
    return _missing(name)


_missing = otherwise_missing("torch.autograd.forward_ad")


def _level() -> int:
    """The only level is 0; edgegrad also opens it where no block does. Outside, dual tensors cannot be made."""
    zeros = function("", "zeros", [[1]])
    try:
        function("autograd.forwardAd", "makeDual", [zeros, zeros])
    except RuntimeError:
        return -1
    return 0
