"""torch.nn.functional."""

from __future__ import annotations

import builtins
import functools
import sys
from typing import Any, Callable

from .._bridge import JsException, js, python_error
from .._calls import camel, function, names_of
from .._declared import declared_function
from .._tensor import Tensor, _new

_linear = js.linear


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    try:
        handle = _linear(input.h, weight.h, 0 if bias is None else bias.h)
    except JsException as error:
        raise python_error(error) from None
    made = _new(Tensor)
    made.h = handle
    return made


def _activation(name: str) -> Callable:
    """A function with PyTorch's `inplace`."""
    plain = declared_function("nn.functional", camel(name)) or declared_function("Tensor", camel(name))
    assert plain is not None, name
    # The op in place keeps its result for backward; copying into the input would change what the other one keeps.
    in_place = declared_function("Tensor", camel(name) + "_")

    # Dropouts take `training` before it.
    most = 2 if "dropout" in name else 0

    def call(input: Tensor, *args: Any, inplace: bool = False, **keywords: Any) -> Tensor:
        if len(args) > most and isinstance(args[-1], builtins.bool):
            *args, inplace = args  # type: ignore[assignment]
        if inplace and in_place is not None:
            return in_place(input, *args, **keywords)
        made = plain(input, *args, **keywords)
        return input.copy_(made) if inplace else made

    call.__name__ = name
    return call


_INPLACE = "celu elu hardsigmoid hardswish hardtanh leaky_relu mish relu6 selu silu threshold".split()
_DROPOUTS = "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split()


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    return input.relu_() if inplace else input.relu()


def rrelu(input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    made = function("nn.functional", "rrelu", [input, lower, upper, training])
    return input.copy_(made) if inplace else made


def sigmoid(input: Tensor) -> Tensor:
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    return input.tanh()


def softsign(input: Tensor) -> Tensor:
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    return input - input.tanh()


def _softmax(name: str) -> Callable:
    def call(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
        if dim is None:
            dim = 0 if input.ndim in (0, 1, 3) else 1
        made = input if dtype is None else input.to(dtype)
        return getattr(made, name)(dim)

    call.__name__ = name
    return call


softmax, log_softmax = _softmax("softmax"), _softmax("log_softmax")


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    return softmax(-input, dim, dtype=dtype)


def _with_indices(name: str) -> Callable:
    """Max pooling: the indices come only if they are asked for."""

    def call(input: Tensor, *args: Any, return_indices: bool = False, **keywords: Any) -> Any:
        base = _found(name)
        given = list(args)
        # PyTorch's last positional argument.
        if given and isinstance(given[-1], builtins.bool) and len(given) >= 6:
            return_indices = given.pop()
        if return_indices:
            return base(input, *given, return_indices=True, **keywords)
        return base(input, *given, **keywords)

    call.__name__ = name
    return call


def _fractional(name: str) -> Callable:
    """Fractional max pooling: JavaScript takes all but the windows' size by name."""
    base = _found(name)

    def call(
        input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False, _random_samples: Any = None
    ) -> Any:
        more = {"return_indices": True} if return_indices else {}
        return base(input, kernel_size, output_size=output_size, output_ratio=output_ratio, _random_samples=_random_samples, **more)

    call.__name__ = name
    return call


@functools.cache
def _found(name: str) -> Callable:
    found = declared_function("nn.functional", camel(name))
    if found is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")
    return found


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    options: dict[str, Any] = {"sparse": sparse} if sparse else {}
    for key, value in (("padding_idx", padding_idx), ("max_norm", max_norm)):
        if value is not None:
            options[key] = value
    if max_norm is not None:
        options["norm_type"] = norm_type
    if scale_grad_by_freq:
        options["scale_grad_by_freq"] = True
    return function("nn.functional", "embedding", [input, weight], options)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    options: dict[str, Any] = {"mode": mode, "sparse": sparse, "include_last_offset": include_last_offset}
    for key, value in (
        ("offsets", offsets),
        ("per_sample_weights", per_sample_weights),
        ("padding_idx", padding_idx),
        ("max_norm", max_norm),
        ("norm_type", norm_type if max_norm is not None else None),
        ("scale_grad_by_freq", scale_grad_by_freq or None),
    ):
        if value is not None:
            options[key] = value
    return function("nn.functional", "embeddingBag", [input, weight], options)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    return function("nn.functional", "oneHot", [tensor, num_classes] if num_classes >= 0 else [tensor])


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    return function("nn.functional", "gumbelSoftmax", [logits], {"tau": tau, "hard": hard, "dim": dim})


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    return function("nn.functional", "pad", [input, list(pad)], {"mode": mode, "value": 0 if value is None else value})


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    options = {"size": size, "scale_factor": scale_factor, "mode": mode, "align_corners": align_corners}
    options["recompute_scale_factor"], options["antialias"] = recompute_scale_factor or None, antialias or None
    return function("nn.functional", "interpolate", [input], {k: v for k, v in options.items() if v is not None})


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _INPLACE or name in _DROPOUTS:
        found: Any = _activation(name)
    elif name.startswith("max_pool") and name.endswith("_with_indices"):
        pool = _with_indices(name.removesuffix("_with_indices"))

        def found(*args: Any, return_indices: bool = True, **keywords: Any) -> Any:
            return pool(*args, return_indices=True, **keywords)

    elif name.startswith("max_pool"):
        found = _with_indices(name)
    elif name.startswith("fractional_max_pool"):
        if name.endswith("_with_indices"):
            found = functools.partial(_fractional(name.removesuffix("_with_indices")), return_indices=True)
        else:
            found = _fractional(name)
    elif name == "grad":
        from . import grad as found
    elif name.startswith("upsample"):
        found = interpolate
    elif camel(name) in names_of("nn.functional"):
        found = _found(name)
    else:
        from .. import __getattr__ as of_torch

        found = of_torch(name)
    setattr(sys.modules[__name__], name, found)
    return found
