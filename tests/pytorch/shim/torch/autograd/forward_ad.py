"""torch.autograd.forward_ad."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._bridge import BODY, Block, function
from .._stubs import otherwise_missing
from .._tensor import Tensor

_current_level = -1
_entered: list[dual_level] = []


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent."""

    primal: Any
    tangent: Any


class dual_level(Block):
    def __init__(self) -> None:
        super().__init__("autograd.forwardAd", "dualLevel", [BODY])

    def __enter__(self) -> int:
        global _current_level
        super().__enter__()
        _current_level += 1
        return _current_level

    def __exit__(self, *given: Any) -> bool:
        global _current_level
        _current_level -= 1
        return super().__exit__(*given)


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


__getattr__ = otherwise_missing("torch.autograd.forward_ad")
