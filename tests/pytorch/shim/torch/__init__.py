"""Stands for PyTorch and computes with edgegrad, so that PyTorch's own tests run on it. tests/pytorch/README.md says how."""

from __future__ import annotations

import os
import pathlib
from math import e, inf, nan, pi
from typing import Any

from . import _bridge

_bridge.channel.start()
_bridge.load_names()

import internals
import stubs
from ._creation import *
from ._creation import LEGACY, _legacy_tensor, range_
from ._functions import *
from ._functions import find_function
from ._modes import *
from ._tensor import Buffer as _Buffer
from ._tensor import Tensor
from ._types import *
from ._types import ALIASES as _DTYPES

globals().update(_DTYPES, **LEGACY)
globals()["range"] = range_
__version__ = "2.6.0"

# PyTorch's files that are used as they are: tests/pytorch/source.mjs unpacks them.
_source = os.environ.get("EG_PYTORCH_SOURCE")
if _source:
    __path__.append(str(pathlib.Path(_source, "torch")))

from . import _modules
from .serialization import load, save
from .sparse import (
    _sparse_broadcast_to,
    _validate_sparse_compressed_tensor_args,
    _validate_sparse_coo_tensor_args,
    sparse_bsc_tensor,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_coo_tensor,
    sparse_csc_tensor,
    sparse_csr_tensor,
)


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name in internals.NOWHERE:
        raise AttributeError(name)
    found = find_function(name)
    if found is None:
        return stubs.missing("torch", name)
    globals()[name] = found
    return found
