"""The submodules of `torch`, and what PyTorch's files read of those that edgegrad does not have."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from typing import Any

from . import _functions, _modes, _types
from ._bridge import Unsupported
import stubs
from stubs import module

torch: Any = sys.modules["torch"]


def _no(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> int:
    return 0


@contextlib.contextmanager
def _flags(**_: Any) -> Any:
    """A block, or a decorator, that chooses an implementation."""
    yield


_ABSENT = {"is_available": _no, "is_built": _no, "device_count": _none, "_is_compiled": _no}


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
torch.version = module("torch.version", cuda=None, hip=None, debug=False, git_version="0", __version__="2.6.0")
for _name in ("cuda", "mps", "xpu", "mtia", "cpu"):
    setattr(torch, _name, module(f"torch.{_name}", **_ABSENT))
torch.backends = module("torch.backends")
for _name in ("cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "quantized", "xnnpack", "cpu", "opt_einsum"):
    setattr(torch.backends, _name, module(f"torch.backends.{_name}", **_ABSENT, enabled=False))
torch.backends.xnnpack.enabled = False
torch.backends.cudnn.flags = torch.backends.mkldnn.flags = _flags
torch.distributed = module("torch.distributed", is_available=_no)
torch.onnx = module("torch.onnx")
torch._utils = module("torch._utils", _element_size=lambda dtype: dtype.itemsize)
torch._C = module("torch._C", is_grad_enabled=_modes.is_grad_enabled, _has_mkldnn=False)
torch._C._DisableFuncTorch = contextlib.nullcontext
torch._C.has_lapack = torch._C.has_spectral = torch._C.has_openmp = True
torch._C._get_privateuse1_backend_name = lambda: "privateuseone"
torch._logging = module("torch._logging")
torch._logging.scribe = module("torch._logging.scribe", open_source_signpost=_none)
torch._mkldnn = _types._mkldnn
torch._dynamo = module("torch._dynamo", disable=lambda fn=None, **_: fn)
torch.library = module(
    "torch.library", custom_op=lambda *_, **__: lambda _: stubs.missing("torch.library", "custom_op")
)
torch.overrides = module("torch.overrides", is_tensor_like=_functions.is_tensor)

_MODULES = "linalg special fft sparse masked signal signal.windows random utils utils.checkpoint autograd nn optim func distributions"
_MODULES += " nn.utils.parametrizations nn.utils.parametrize nn.utils.prune nn.utils.rnn"
for _name in _MODULES.split():
    importlib.import_module(f"torch.{_name}")
if len(torch.__path__) > 1:
    torch.utils.__path__.append(f"{torch.__path__[1]}/utils")
for _name in ("forward_ad", "function", "functional", "grad_mode", "gradcheck", "graph"):
    importlib.import_module(f"torch.autograd.{_name}")
torch.compiler = module("torch.compiler", is_compiling=_no, is_dynamo_compiling=_no, disable=lambda fn=None, **_: fn)
torch.utils._foreach_utils = module(
    "torch.utils._foreach_utils",
    _get_foreach_kernels_supported_devices=lambda: ["cuda", "xpu"],
    _get_fused_kernels_supported_devices=lambda: ["mps", "cuda", "xpu", "hpu", "cpu"],
)
torch.utils._mode_utils = module("torch.utils._mode_utils", no_dispatch=contextlib.nullcontext)
torch.vmap = torch.func.vmap
torch.ops = module("torch.ops", aten=torch.utils.checkpoint.Ops())
torch._functorch = module("torch._functorch")
module(
    "torch._functorch.eager_transforms",
    jvp=torch.func.jvp,
    _as_tuple=lambda value: value if isinstance(value, tuple) else (value,),
)
torch._vmap_internals = module("torch._vmap_internals", vmap=torch.func.vmap, _vmap=torch.func.vmap)


def _refuse_swapping(value: bool) -> None:
    if value:
        raise Unsupported("n/a: swapping the contents of tensors")


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


class _NodeType(type):
    """A class of nodes, known by its name."""

    def __instancecheck__(cls, value: Any) -> bool:
        return type(value).__name__ == cls.__name__


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


torch._C._functions = module(
    "torch._C._functions",
    AccumulateGrad=_NodeType("AccumulateGrad", (), {}),
    DelayedError=DelayedError,
    UndefinedGrad=UndefinedGrad,
)
torch.storage = module(
    "torch.storage",
    TypedStorage=type("TypedStorage", (), {}),
    UntypedStorage=type("UntypedStorage", (), {}),
)
torch._C._debug_only_are_vmap_fallback_warnings_enabled = _no
torch._C._debug_only_display_vmap_fallback_warnings = _none
torch._C._functorch = module(
    "torch._C._functorch", _is_vmap_fallback_enabled=_no, _set_vmap_fallback_enabled=_none
)
torch._C._autograd = module("torch._C._autograd")
