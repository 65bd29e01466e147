"""PyTorch's API, computed by edgegrad. It is not PyTorch: `import edgegrad.torch as torch`.

What edgegrad does not have raises by name, and nothing is ignored in silence.
"""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import Any

from .._version import __version__
from . import _bridge
from ._bridge import EdgeGradError, OutOfMemoryError, flush, memory, runtime, sweep
from ._types import (
    ALIASES as _DTYPES,
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    dtype,
    get_default_device,
    layout,
    memory_format,
    preserve_format,
    set_default_device,
    sparse_coo,
    sparse_csr,
    strided,
)
from ._tensor import Tensor
from . import _layouts, _operators, _reading
from ._parameter import Parameter as _Parameter
from ._creation import (
    LEGACY as _LEGACY,
    LegacyType as _LegacyType,
    arange,
    as_tensor,
    asarray,
    empty,
    empty_like,
    empty_permuted,
    empty_strided,
    eye,
    from_numpy,
    frombuffer,
    full,
    full_like,
    get_default_dtype,
    linspace,
    logspace,
    normal,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
    scalar_tensor,
    set_default_dtype,
    set_default_tensor_type,
    tensor,
    zeros,
    zeros_like,
)
from . import _functions
from ._functions import find as _find
from ._modes import (
    autocast,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from ._serialization import load, save
from ._capture import capture
from .random import Generator, default_generator

newaxis = None
globals().update(_DTYPES)
__all__ = ["Tensor", "tensor"]


for _name, _kind in _LEGACY.items():
    globals()[_name + "Tensor"] = _LegacyType(_name + "Tensor", (), {"dtype": dtype.all[_kind]})

# Parts that are imported when they are first used.
_PARTS = frozenset(
    "amp autograd backends cuda distributions fft func hub linalg masked mps nn optim random signal sparse special testing utils version".split()
)

_SPARSE = {f"sparse_{one}_tensor" for one in ("coo", "csr", "compressed", "csc", "bsr", "bsc")}


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        import importlib

        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    if name in _SPARSE:
        from . import sparse

        found: Any = getattr(sparse, name)
    else:
        found = None if name.startswith("__") else _find(name)
    if found is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from ._calls import names_of, snake

    return sorted({*globals(), *_PARTS, *map(snake, names_of(""))})


def vmap(func: Any, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None) -> Any:
    from .func import vmap as made

    return made(func, in_dims, out_dims, randomness, chunk_size=chunk_size)


from . import autograd, nn, optim, utils
