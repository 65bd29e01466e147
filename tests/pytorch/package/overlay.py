"""What PyTorch's test support asks for beside a user's torch: names of other devices and of PyTorch's internals, which stand for nothing."""

from __future__ import annotations

import contextlib
import importlib
import os
import pathlib
import sys
import types
from typing import Any, Callable

import edgegrad
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


def _no(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> int:
    return 0


@contextlib.contextmanager
def _flags(**_: Any) -> Any:
    """A block, or a decorator, that chooses an implementation."""
    yield


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

# What PyTorch does not have either, though its test support asks for it.
_NOWHERE = {"_foreach_copy", "_foreach_zero", "copy", "hpu", "privateuseone", "unique_dim", "zero"}


def _fill(name: str, own: types.ModuleType) -> None:
    """Lets names that a module lacks be imported; a test that uses one is unsupported."""
    found: Callable[[str], Any] | None = own.__dict__.get("__getattr__")

    def look_up(one: str) -> Any:
        if one == "__all__":
            return []
        if one.startswith("__") or (name == "torch" and one in _NOWHERE):
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
_ABSENT: dict[str, Any] = {"is_available": _no, "is_built": _no, "device_count": _none, "_is_compiled": _no}


class _Settings:
    """Of the package hypothesis, of which PyTorch's test support changes a profile; tests that need the package are missing."""

    _profiles = {"default": types.SimpleNamespace()}
    _current_profile = "default"
    register_profile = load_profile = staticmethod(_none)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, decorated: Any) -> Any:
        return decorated


_version = module("hypothesis.version", __version_info__=(0,))
_strategies = module("hypothesis.strategies", composite=lambda draw: lambda *_, **__: None)
module("hypothesis", version=_version, settings=_Settings, strategies=_strategies)
for _name, _value in {"cuda": None, "hip": None, "debug": False, "git_version": "0", "__version__": "2.6.0"}.items():
    setattr(torch.version, _name, _value)
for _name in ("xpu", "mtia", "cpu"):
    setattr(torch, _name, module(f"torch.{_name}", **_ABSENT))
for _name in ("is_built", "_is_compiled"):
    setattr(torch.cuda, _name, _no)
for _name in ("cudnn", "mkl", "mkldnn", "mps", "openmp", "quantized", "xnnpack", "cpu", "opt_einsum"):
    setattr(torch.backends, _name, module(f"torch.backends.{_name}", **_ABSENT, enabled=False, flags=_flags))
torch.distributed = module("torch.distributed", is_available=_no)
torch.onnx = module("torch.onnx")

torch._utils = module("torch._utils", _element_size=lambda dtype: dtype.itemsize)
torch._C = module("torch._C", is_grad_enabled=torch.is_grad_enabled, _has_mkldnn=False)
torch._C._DisableFuncTorch = contextlib.nullcontext
torch._C.has_lapack = torch._C.has_spectral = torch._C.has_openmp = True
torch._C._get_privateuse1_backend_name = lambda: "privateuseone"
torch._C._debug_only_are_vmap_fallback_warnings_enabled = _no
torch._C._debug_only_display_vmap_fallback_warnings = _none
torch._C._functorch = module("torch._C._functorch", _is_vmap_fallback_enabled=_no, _set_vmap_fallback_enabled=_none)
torch._C._autograd = module("torch._C._autograd")
torch._logging = module("torch._logging")
torch._logging.scribe = module("torch._logging.scribe", open_source_signpost=_none)
torch._dynamo = module("torch._dynamo", disable=lambda fn=None, **_: fn)
torch.library = module(
    "torch.library", custom_op=lambda *_, **__: lambda _: stubs.missing("torch.library", "custom_op")
)
torch.overrides = module("torch.overrides", is_tensor_like=torch.is_tensor)
torch.compiler = module("torch.compiler", is_compiling=_no, is_dynamo_compiling=_no, disable=lambda fn=None, **_: fn)
torch.utils._foreach_utils = module(
    "torch.utils._foreach_utils",
    _get_foreach_kernels_supported_devices=lambda: ["cuda", "xpu"],
    _get_fused_kernels_supported_devices=lambda: ["mps", "cuda", "xpu", "hpu", "cpu"],
)
torch.utils._mode_utils = module("torch.utils._mode_utils", no_dispatch=contextlib.nullcontext)
torch._functorch = module("torch._functorch")
module(
    "torch._functorch.eager_transforms",
    jvp=torch.func.jvp,
    _as_tuple=lambda value: value if isinstance(value, tuple) else (value,),
)
torch._vmap_internals = module("torch._vmap_internals", vmap=torch.func.vmap, _vmap=torch.func.vmap)
torch.storage = module(
    "torch.storage",
    TypedStorage=type("TypedStorage", (), {}),
    UntypedStorage=type("UntypedStorage", (), {}),
)


def _refuse_swapping(value: bool) -> None:
    if value:
        raise stubs.Unsupported("n/a: swapping the contents of tensors")


setattr(
    torch,
    "__future__",
    module(
        "torch.__future__",
        get_swap_module_params_on_conversion=_no,
        set_swap_module_params_on_conversion=_refuse_swapping,
        get_overwrite_module_params_on_conversion=_no,
        set_overwrite_module_params_on_conversion=_none,
    ),
)


class _Undefined(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> None:
        return None


class _Delayed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, message: str, x: Any) -> Any:
        ctx.message = message
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> None:
        raise RuntimeError(ctx.message)


class UndefinedGrad:
    """PyTorch's function whose gradient is undefined."""

    def __call__(self, x: Any) -> Any:
        return _Undefined.apply(x)


class DelayedError:
    """PyTorch's function that throws in backward."""

    def __init__(self, message: str, count: int) -> None:
        self._message = message

    def __call__(self, x: Any) -> Any:
        return _Delayed.apply(self._message, x)


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
torch._C._functions = module(
    "torch._C._functions",
    AccumulateGrad=class_named("AccumulateGrad"),
    DelayedError=DelayedError,
    UndefinedGrad=UndefinedGrad,
)
