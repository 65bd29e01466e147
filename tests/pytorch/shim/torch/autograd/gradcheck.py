"""gradcheck and gradgradcheck, which are edgegrad's: PyTorch's own changes inputs through `x.data`, which edgegrad counts as a change."""

from __future__ import annotations

from typing import Any, Callable

from .._bridge import EdgeGradError, Unsupported
from .._bridge import function as call
from .._stubs import otherwise_missing
from .._tensor import Tensor

_NAMES = ("eps", "atol", "rtol", "raise_exception")


class GradcheckError(EdgeGradError, RuntimeError):
    """A gradient that differs."""


def _check(name: str, fn: Callable, inputs: Any, keywords: dict) -> bool:
    options = {key: value for key, value in keywords.items() if value is not None}
    # Only sparse tensors have masks.
    if options.pop("masked", False):
        raise Unsupported("missing: gradcheck of sparse tensors")
    if options.pop("check_batched_forward_grad", False):
        raise Unsupported("missing: gradcheck of batched tangents")
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
        if getattr(error, "code", None) != "InvalidGradient":
            raise
        raise GradcheckError(str(error)) from error


def gradcheck(func: Callable, inputs: Any, *args: Any, **keywords: Any) -> bool:
    return _check("gradcheck", func, inputs, {**dict(zip(_NAMES, args)), **keywords})


def gradgradcheck(
    func: Callable, inputs: Any, grad_outputs: Any = None, *args: Any, **keywords: Any
) -> bool:
    given = list(grad_outputs) if isinstance(grad_outputs, tuple) else grad_outputs
    return _check("gradgradcheck", func, inputs, {"grad_outputs": given, **dict(zip(_NAMES, args)), **keywords})


__getattr__ = otherwise_missing("torch.autograd.gradcheck")
