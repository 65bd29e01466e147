"""The submodules of `torch`, and what PyTorch's files read of those that edgegrad does not have."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from . import _types
import internals
from stubs import module

torch: Any = sys.modules["torch"]
torch.version = module("torch.version")
for _name in ("cuda", "mps"):
    setattr(torch, _name, module(f"torch.{_name}", **internals.ABSENT))
torch.backends = module("torch.backends")
torch.backends.cuda = module("torch.backends.cuda", **internals.ABSENT, enabled=False)
torch._mkldnn = _types._mkldnn

_MODULES = "linalg special fft sparse masked signal signal.windows random utils utils.checkpoint autograd nn optim func distributions"
_MODULES += " nn.utils.parametrizations nn.utils.parametrize nn.utils.prune nn.utils.rnn"
for _name in _MODULES.split():
    importlib.import_module(f"torch.{_name}")
if len(torch.__path__) > 1:
    torch.utils.__path__.append(f"{torch.__path__[1]}/utils")
for _name in ("forward_ad", "function", "functional", "grad_mode", "gradcheck", "graph"):
    importlib.import_module(f"torch.autograd.{_name}")
torch.vmap = torch.func.vmap
torch.ops = module("torch.ops", aten=torch.utils.checkpoint.Ops())


class _NodeType(type):
    """A class of nodes, known by its name."""

    def __instancecheck__(cls, value: Any) -> bool:
        return type(value).__name__ == cls.__name__


internals.install(torch, lambda name: _NodeType(name, (), {}))
