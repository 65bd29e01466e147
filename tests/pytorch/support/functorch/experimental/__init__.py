"""functorch.experimental."""

from stubs import otherwise_missing
from torch.func import replace_all_batch_norm_modules_

__getattr__ = otherwise_missing("functorch.experimental")
