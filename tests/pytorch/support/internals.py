"""What PyTorch's test support asks for beside a user's torch: other devices and PyTorch's internals, which stand for nothing."""

from __future__ import annotations

import contextlib
import types
from typing import Any, Callable

import stubs
from stubs import module

# What PyTorch does not have either, though its test support asks for it.
NOWHERE = {"_foreach_copy", "_foreach_zero", "copy", "hpu", "privateuseone", "unique_dim", "zero"}


def no(*_: Any, **__: Any) -> bool:
    return False


def _none(*_: Any, **__: Any) -> int:
    return 0


@contextlib.contextmanager
def _flags(**_: Any) -> Any:
    """A block, or a decorator, that chooses an implementation."""
    yield


# Of a device that is not there.
ABSENT: dict[str, Any] = {"is_available": no, "is_built": no, "device_count": _none, "_is_compiled": no}


class _Settings:
    """Of the package hypothesis, of which PyTorch's test support changes a profile; tests that need the package are missing."""

    _profiles = {"default": types.SimpleNamespace()}
    _current_profile = "default"
    register_profile = load_profile = staticmethod(_none)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __call__(self, decorated: Any) -> Any:
        return decorated


def _refuse_swapping(value: bool) -> None:
    if value:
        raise stubs.Unsupported("n/a: swapping the contents of tensors")


def install(torch: Any, class_of_nodes: Callable[[str], type]) -> None:
    """Gives `torch` the modules; `class_of_nodes` returns the class of nodes with a name."""
    version = module("hypothesis.version", __version_info__=(0,))
    strategies = module("hypothesis.strategies", composite=lambda draw: lambda *_, **__: None)
    module("hypothesis", version=version, settings=_Settings, strategies=strategies)
    for name, value in {"cuda": None, "hip": None, "debug": False, "git_version": "0", "__version__": "2.6.0"}.items():
        setattr(torch.version, name, value)
    for name in ("xpu", "mtia", "cpu"):
        setattr(torch, name, module(f"torch.{name}", **ABSENT))
    for name in ("cudnn", "mkl", "mkldnn", "mps", "openmp", "quantized", "xnnpack", "cpu", "opt_einsum"):
        setattr(torch.backends, name, module(f"torch.backends.{name}", **ABSENT, enabled=False, flags=_flags))
    torch.distributed = module("torch.distributed", is_available=no)
    torch.onnx = module("torch.onnx")
    torch._utils = module("torch._utils", _element_size=lambda dtype: dtype.itemsize)
    torch._logging = module("torch._logging")
    torch._logging.scribe = module("torch._logging.scribe", open_source_signpost=_none)
    torch._dynamo = module("torch._dynamo", disable=lambda fn=None, **_: fn)
    torch.library = module("torch.library", custom_op=lambda *_, **__: lambda _: stubs.missing("torch.library", "custom_op"))
    torch.overrides = module("torch.overrides", is_tensor_like=torch.is_tensor)
    torch.compiler = module("torch.compiler", is_compiling=no, is_dynamo_compiling=no, disable=lambda fn=None, **_: fn)
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
    future = module(
        "torch.__future__",
        get_swap_module_params_on_conversion=no,
        set_swap_module_params_on_conversion=_refuse_swapping,
        get_overwrite_module_params_on_conversion=no,
        set_overwrite_module_params_on_conversion=_none,
    )
    setattr(torch, "__future__", future)
    _install_internals(torch, class_of_nodes)


def _install_internals(torch: Any, class_of_nodes: Callable[[str], type]) -> None:
    torch._C = module("torch._C", is_grad_enabled=torch.is_grad_enabled, _has_mkldnn=False)
    torch._C._DisableFuncTorch = contextlib.nullcontext
    torch._C.has_lapack = torch._C.has_spectral = torch._C.has_openmp = True
    torch._C._get_privateuse1_backend_name = lambda: "privateuseone"
    torch._C._debug_only_are_vmap_fallback_warnings_enabled = no
    torch._C._debug_only_display_vmap_fallback_warnings = _none
    torch._C._functorch = module("torch._C._functorch", _is_vmap_fallback_enabled=no, _set_vmap_fallback_enabled=_none)
    torch._C._autograd = module("torch._C._autograd")

    class Undefined(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> None:
            return None

    class Delayed(torch.autograd.Function):
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
            return Undefined.apply(x)

    class DelayedError:
        """PyTorch's function that throws in backward."""

        def __init__(self, message: str, count: int) -> None:
            self._message = message

        def __call__(self, x: Any) -> Any:
            return Delayed.apply(self._message, x)

    torch._C._functions = module(
        "torch._C._functions",
        AccumulateGrad=class_of_nodes("AccumulateGrad"),
        DelayedError=DelayedError,
        UndefinedGrad=UndefinedGrad,
    )
