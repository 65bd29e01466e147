"""torch.nn.utils.stateless, which torch.func replaces."""

from __future__ import annotations

import warnings
from typing import Any

from ...func import functional_call as _functional_call


def functional_call(module: Any, parameters_and_buffers: Any, args: Any = None, kwargs: Any = None, **keywords: Any) -> Any:
    """torch.func.functional_call under its old name."""
    warnings.warn("torch.nn.utils.stateless.functional_call is deprecated: use torch.func.functional_call", FutureWarning, stacklevel=2)
    return _functional_call(module, parameters_and_buffers, args, kwargs, **keywords)
