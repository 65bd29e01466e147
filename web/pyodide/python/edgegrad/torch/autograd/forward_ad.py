"""torch.autograd.forward_ad: directional derivatives together with the values."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._bridge import EdgeGradError, remember
from .._calls import function
from .._modes import Mode
from .._tensor import Tensor

_entered: list[dual_level] = []


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent."""

    primal: Tensor
    tangent: Tensor | None


class dual_level(Mode):
    """Inside, tensors can have tangents."""

    path = "autograd.forwardAd.dualLevel"

    def __enter__(self) -> int:
        Mode.__enter__(self)
        return 0


def enter_dual_level() -> int:
    """Begins the only level, 0."""
    _entered.append(dual_level())
    return _entered[-1].__enter__()


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level."""
    _entered.pop().__exit__()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor with a tangent."""
    remember(tangent)
    return function("autograd.forwardAd", "makeDual", [tensor, tangent])


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The value and the tangent of a tensor."""
    found = function("autograd.forwardAd", "unpackDual", [tensor])
    return UnpackedDualTensor(found["primal"], found["tangent"])


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return _level()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def _level() -> int:
    """edgegrad also opens the level where no block does. Outside, dual tensors cannot be made."""
    zeros = function("", "zeros", [[1]])
    try:
        function("autograd.forwardAd", "makeDual", [zeros, zeros])
    except EdgeGradError:
        return -1
    return 0
