"""torch.autograd.forward_ad: directional derivatives together with the values."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from .._calls import function
from .._modes import Mode
from .._tensor import Tensor

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])


class dual_level(Mode):
    """Inside, tensors can have tangents."""

    path = "autograd.forwardAd.dualLevel"


def make_dual(tensor: Tensor, tangent: Tensor, *, level: Any = None) -> Tensor:
    return function("autograd.forwardAd", "makeDual", [tensor, tangent])


def unpack_dual(tensor: Tensor, *, level: Any = None) -> UnpackedDualTensor:
    found = function("autograd.forwardAd", "unpackDual", [tensor])
    return UnpackedDualTensor(found["primal"], found["tangent"])
