"""gradcheck and gradgradcheck, which are edgegrad's: PyTorch's own changes inputs through `x.data`, which edgegrad counts as a change."""

from __future__ import annotations

from typing import Any, Callable

from .._bridge import EdgeGradError, Unsupported
from .._bridge import function as call
from .._stubs import otherwise_missing
from .._tensor import Tensor

_NAMES = ("eps", "atol", "rtol", "raise_exception")
# What edgegrad's check always does, or never: modes and variants of the check.
_VARIANTS = {
    "check_batched_forward_grad",
    "check_batched_grad",
    "check_forward_ad",
    "check_fwd_over_rev",
    "check_grad_dtypes",
    "check_rev_over_rev",
    "check_undefined_grad",
    "fast_mode",
    "gen_non_contig_grad_outputs",
    "masked",
    "nondet_tol",
}


class GradcheckError(EdgeGradError, RuntimeError):
    """A gradient that differs."""


def _check(name: str, fn: Callable, inputs: Any, keywords: dict) -> bool:
    if not keywords.pop("check_backward_ad", True):
        raise Unsupported("missing: gradcheck in forward mode alone")
    raising = keywords.pop("raise_exception", True)
    options = {key: value for key, value in keywords.items() if key not in _VARIANTS and value is not None}
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    places = [at for at, one in enumerate(inputs) if isinstance(one, Tensor)]

    def of_tensors(*tensors: Any) -> Any:
        args = list(inputs)
        for at, tensor in zip(places, tensors):
            args[at] = tensor
        output = fn(*args)
        if isinstance(output, (list, tuple)):
            return [one for one in output if isinstance(one, Tensor)]
        return output

    try:
        return call("autograd", name, [of_tensors, [inputs[at] for at in places]], options)
    except Exception as error:
        if not isinstance(error, EdgeGradError):
            raise
        if not raising:
            return False
        raise GradcheckError(str(error)) from error


def gradcheck(func: Callable, inputs: Any, *args: Any, **keywords: Any) -> bool:
    return _check("gradcheck", func, inputs, {**dict(zip(_NAMES, args)), **keywords})


def gradgradcheck(
    func: Callable, inputs: Any, grad_outputs: Any = None, *args: Any, **keywords: Any
) -> bool:
    given = list(grad_outputs) if isinstance(grad_outputs, tuple) else grad_outputs
    return _check("gradgradcheck", func, inputs, {"grad_outputs": given, **dict(zip(_NAMES, args)), **keywords})


__getattr__ = otherwise_missing("torch.autograd.gradcheck")
