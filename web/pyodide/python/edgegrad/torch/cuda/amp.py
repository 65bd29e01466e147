"""torch.cuda.amp: mixed precision for CUDA, which does nothing without it."""

from __future__ import annotations

from .. import amp
from .._types import dtype as dtype_, float16


class autocast(amp.autocast):
    """torch.amp.autocast("cuda", ...)."""

    def __init__(self, enabled: bool = True, dtype: dtype_ = float16, cache_enabled: bool = True) -> None:
        amp.autocast.__init__(self, "cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cuda", ...)."""

    def __init__(self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        factors = {"growth_factor": growth_factor, "backoff_factor": backoff_factor, "growth_interval": growth_interval}
        amp.GradScaler.__init__(self, "cuda", init_scale=init_scale, enabled=enabled, **factors)
