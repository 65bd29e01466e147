"""gradcheck and gradgradcheck, which are edgegrad's."""

from __future__ import annotations

from typing import Any, Callable

from .._bridge import EdgeGradError
from .._calls import function as _call
from .._creation import ones_like, randn_like, zeros_like
from .._tensor import Tensor
from .._types import sparse_coo, strided
from . import forward_ad

_NAMES = ("eps", "atol", "rtol", "raise_exception")


class GradcheckError(EdgeGradError):
    """A gradient that differs."""

    code = "InvalidGradient"


def _check(name: str, fn: Callable, inputs: Any, keywords: dict) -> bool:
    options = {key: value for key, value in keywords.items() if value is not None}
    is_masked = options.pop("masked", False)
    is_batched = options.pop("check_batched_forward_grad", False)
    inputs = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    if not is_masked:
        inputs = tuple(map(_with_all_positions, inputs))
    places = [at for at, one in enumerate(inputs) if isinstance(one, Tensor)]

    def of_tensors(*tensors: Any) -> Any:
        args = list(inputs)
        for at, tensor in zip(places, tensors):
            args[at] = tensor
        output = fn(*args)
        return [one for one in output if isinstance(one, Tensor)] if isinstance(output, (list, tuple)) else output

    try:
        good = _call("autograd", name, [of_tensors, [inputs[at] for at in places]], options, "hold")
    except EdgeGradError as error:
        if error.code != "InvalidGradient":
            raise
        raise GradcheckError(str(error)) from error
    if good and is_batched:
        _check_batched_tangents(fn, inputs)
    return good


def _with_all_positions(one: Any) -> Any:
    """A sparse tensor in which no element is left out, as PyTorch makes of it unless `masked`: then every element is a variable."""
    if not isinstance(one, Tensor) or one.layout is strided or not one.requires_grad:
        return one
    dense = one.detach().to_dense()
    every = ones_like(dense)
    mask = every.to_sparse(one.sparse_dim()) if one.layout is sparse_coo else every.to_sparse_csr(one.dense_dim())
    return dense.sparse_mask(mask).requires_grad_()


def _check_batched_tangents(fn: Callable, inputs: tuple) -> None:
    """Compares the tangents for a batch of tangents, by vmap, with those for each of them."""
    from .. import func

    plain = [one.detach() if isinstance(one, Tensor) else one for one in inputs]
    for at, one in enumerate(inputs):
        if not (isinstance(one, Tensor) and one.requires_grad):
            continue

        def push(tangent: Tensor, at: int = at) -> tuple:
            with forward_ad.dual_level():
                given = list(plain)
                given[at] = forward_ad.make_dual(plain[at], tangent)
                output = fn(*given)
                outputs = output if isinstance(output, (list, tuple)) else [output]
                duals = [forward_ad.unpack_dual(one) for one in outputs if isinstance(one, Tensor)]
                return tuple(zeros_like(dual.primal) if dual.tangent is None else dual.tangent for dual in duals)

        each = [randn_like(plain[at]) for _ in range(2)]
        together = func.vmap(push)(_stack(each))
        for n, tangent in enumerate(each):
            for batch, expected in zip(together, push(tangent)):
                if not batch[n].allclose(expected, rtol=1e-3, atol=1e-5):
                    raise GradcheckError(f"the tangents for a batch of tangents of input {at} differ")


def _stack(tensors: list) -> Tensor:
    return _call("", "stack", [tensors])


def gradcheck(func: Callable, inputs: Any, *args: Any, **keywords: Any) -> bool:
    """Compares gradients with finite differences. The options are edgegrad's, in Python's spelling."""
    return _check("gradcheck", func, inputs, {**dict(zip(_NAMES, args)), **keywords})


def gradgradcheck(func: Callable, inputs: Any, grad_outputs: Any = None, *args: Any, **keywords: Any) -> bool:
    """Compares second gradients with finite differences."""
    given = list(grad_outputs) if isinstance(grad_outputs, tuple) else grad_outputs
    return _check("gradgradcheck", func, inputs, {"grad_outputs": given, **dict(zip(_NAMES, args)), **keywords})
