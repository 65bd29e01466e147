"""torch.nn.utils.stateless, which torch.func replaces."""

from __future__ import annotations

import warnings
from typing import Any

from ...func import functional_call as _functional_call
from stubs import otherwise_missing


def functional_call(module: Any, parameters: Any, args: Any = None, kwargs: Any = None, **keywords: Any) -> Any:
    warnings.warn("torch.nn.utils.stateless.functional_call is deprecated", FutureWarning, stacklevel=2)
    return _functional_call(module, parameters, args, kwargs, **keywords)


__getattr__ = otherwise_missing("torch.nn.utils.stateless")
