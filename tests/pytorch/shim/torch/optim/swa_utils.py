"""torch.optim.swa_utils."""

from .._stubs import otherwise_missing
from .lr_scheduler import LRScheduler

SWALR = type("SWALR", (LRScheduler,), {"_path": "optim.swaUtils.SWALR"})

__getattr__ = otherwise_missing("torch.optim.swa_utils")
