"""torch.utils. `_pytree` is PyTorch's own file."""

from stubs import otherwise_missing

__getattr__ = otherwise_missing("torch.utils")
