"""torch.backends: what programs ask about the libraries of PyTorch. None is there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def _absent(**settings: Any) -> SimpleNamespace:
    return SimpleNamespace(is_available=lambda: False, is_built=lambda: False, **settings)


# Settings of cuDNN have no meaning without it, as in PyTorch on a CPU.
cudnn = _absent(enabled=False, benchmark=False, deterministic=True, allow_tf32=False)
cuda = _absent(matmul=SimpleNamespace(allow_tf32=False))
mps, mkl, mkldnn, openmp = _absent(), _absent(), _absent(), _absent()
