"""torch.optim.swa_utils."""

from __future__ import annotations

from typing import Any, Callable

from .._bridge import camel, function, method
from stubs import otherwise_missing
from ..nn.module import Module
from .lr_scheduler import LRScheduler

SWALR = type("SWALR", (LRScheduler,), {"_path": "optim.swaUtils.SWALR"})


class AveragedModel(Module):
    """A copy of a model whose parameters are an average over time."""

    _path = "optim.swaUtils.AveragedModel"

    def update_parameters(self, model: Any) -> None:
        method(self, "updateParameters", [model])


def _function(name: str) -> Callable:
    return lambda *args: function("optim.swaUtils", camel(name), list(args))


get_ema_avg_fn = _function("get_ema_avg_fn")
get_ema_multi_avg_fn = _function("get_ema_multi_avg_fn")
get_swa_avg_fn = _function("get_swa_avg_fn")
get_swa_multi_avg_fn = _function("get_swa_multi_avg_fn")

__getattr__ = otherwise_missing("torch.optim.swa_utils")
