"""What PyTorch's test support asks for beside a user's torch: names of other devices and of PyTorch's internals, which stand for nothing."""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
import types
from typing import Any, Callable

import edgegrad
import internals
import stubs

if os.environ.get("EG_WITHOUT_NUMPY"):
    # PyTorch's test support imports numpy; tests that use it are unsupported.
    for _name in ("numpy", "numpy.random", "numpy.testing", "numpy.typing", "numpy.linalg"):
        stubs.module(_name)
    stubs.module("numpy.random", seed=lambda *_: None)
    stubs.module("numpy", __version__="1.26.0")
edgegrad.install_as_torch()
import torch  # noqa: E402
from edgegrad.torch._calls import camel  # noqa: E402
from edgegrad.torch.autograd.node import class_named  # noqa: E402
from edgegrad.torch.nn.hooks import global_hooks  # noqa: E402
from stubs import module  # noqa: E402


class _MissingDtype:
    """A dtype that edgegrad does not have; tests of it do not run."""

    kind = "q"
    is_floating_point = is_complex = is_signed = False
    itemsize = 1

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


MISSING_DTYPES = "float8_e4m3fnuz float8_e5m2fnuz qint8 quint8 qint32 quint4x2 quint2x4".split()
for _name in MISSING_DTYPES:
    setattr(torch, _name, _MissingDtype(_name))
for _name in ("sparse_csc", "sparse_bsr", "sparse_bsc", "jagged", "_mkldnn"):
    if _name not in vars(torch):
        setattr(torch, _name, torch.layout(_name))

# PyTorch's files that are used as they are: tests/pytorch/source.mjs unpacks them.
_source = os.environ.get("EG_PYTORCH_SOURCE")
if _source:
    torch.__path__.append(str(pathlib.Path(_source, "torch")))
    torch.utils.__path__.append(str(pathlib.Path(_source, "torch", "utils")))
torch.__version__ = "2.6.0"

# Modules of the package, which get what they lack from stubs, and modules that are nothing but stubs.
_OWN = "autograd autograd.forward_ad autograd.function autograd.functional autograd.grad_mode autograd.gradcheck autograd.graph backends cuda distributions fft func linalg mps nn nn.attention nn.functional"
_OWN += " nn.init nn.modules nn.parameter nn.utils nn.utils.rnn optim optim.lr_scheduler optim.swa_utils random signal signal.windows sparse special masked"
_OWN += " nn.utils.prune nn.utils.parametrize nn.utils.parametrizations utils utils.checkpoint utils.data version amp distributions.kl distributions.constraints distributions.transforms"
_OWN += " distributions.constraint_registry nn.utils.stateless optim.optimizer"


def _fill(name: str, own: types.ModuleType) -> None:
    """Lets names that a module lacks be imported; a test that uses one is unsupported."""
    found: Callable[[str], Any] | None = own.__dict__.get("__getattr__")

    def look_up(one: str) -> Any:
        if one == "__all__":
            return []
        if one.startswith("__") or (name == "torch" and one in internals.NOWHERE):
            raise AttributeError(one)
        known = sys.modules.get(f"{name}.{one}")
        if known is not None:
            return known
        if found is not None:
            try:
                return found(one)
            except AttributeError:
                pass
        return stubs.missing(name, one)

    own.__getattr__ = look_up  # type: ignore[method-assign]


for _name in _OWN.split():
    _fill(f"torch.{_name}", importlib.import_module(f"torch.{_name}"))
_fill("torch", torch)
torch.nn.attention.__path__ = []
# Tests are named by the modules of PyTorch's classes.
torch.nn.modules.__name__ = "torch.nn.modules"


class _HooksOfAll(types.ModuleType):
    """PyTorch's tests forget the hooks of all modules by giving this module new dictionaries."""

    _KINDS = {
        "_global_backward_hooks": "backward",
        "_global_backward_pre_hooks": "backward_pre",
        "_global_forward_hooks": "forward",
        "_global_forward_pre_hooks": "pre",
    }

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._KINDS:
            global_hooks.of[self._KINDS[name]].clear()
        else:
            types.ModuleType.__setattr__(self, name, value)


torch.nn.modules.module.__class__ = _HooksOfAll
for _name in ("is_built", "_is_compiled"):
    setattr(torch.cuda, _name, internals.no)
internals.install(torch, class_named)
torch.set_warn_always(True)


def _set_coalesced(self: Any, is_coalesced: bool) -> Any:
    """PyTorch's internal switch, which checks nothing: edgegrad has one only where a tensor is made."""
    if self.is_coalesced() != is_coalesced:
        self.data = torch.sparse_coo_tensor(self._indices(), self._values(), self.shape, is_coalesced=is_coalesced)
        # edgegrad knows that one position cannot be out of order.
        self._is_said_to_be_coalesced = is_coalesced
    return self


_is_coalesced = torch.Tensor.is_coalesced
torch.Tensor.is_coalesced = lambda self: self.__dict__.get("_is_said_to_be_coalesced", _is_coalesced(self))


torch.Tensor._coalesced_ = _set_coalesced


def _validate_coo(indices: Any, values: Any, size: Any, *_: Any) -> None:
    """Making a tensor checks its parts."""
    torch.sparse_coo_tensor(indices, values, size)


def _validate_compressed(compressed: Any, plain: Any, values: Any, size: Any, layout: Any) -> None:
    """Making a tensor checks its parts."""
    torch.sparse_compressed_tensor(compressed, plain, values, size, layout=layout)


torch._validate_sparse_coo_tensor_args = _validate_coo
torch._validate_sparse_compressed_tensor_args = _validate_compressed
torch._sparse_broadcast_to = lambda input, size: input.expand(list(size))


class _Packet:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("__"):
            raise AttributeError(overload)
        return torch.utils.checkpoint.Op(camel(self._name))


class _Ops:
    """torch.ops.aten."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Packet(name)


torch.ops = module("torch.ops", aten=_Ops())
