"""Normalization."""

from __future__ import annotations

from typing import Any

from .. import _creation
from .._parameter import Parameter
from .._tensor import Tensor
from . import functional as F
from .made import layer
from .module import Module


class _BatchNorm(Module):
    ndims: tuple[int, ...] = (2, 3)
    is_instance = False
    affine_default, track_default = True, True

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool | None = None,
        track_running_stats: bool | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine = self.affine_default if affine is None else affine
        self.track_running_stats = self.track_default if track_running_stats is None else track_running_stats
        of = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(_creation.ones(num_features, **of)) if self.affine else None)
        self.register_parameter("bias", Parameter(_creation.zeros(num_features, **of)) if self.affine else None)
        tracked = self.track_running_stats
        self.register_buffer("running_mean", _creation.zeros(num_features, **of) if tracked else None)
        self.register_buffer("running_var", _creation.ones(num_features, **of) if tracked else None)
        self.register_buffer("num_batches_tracked", _creation.zeros((), dtype=_creation.int64, device=device) if tracked else None)

    def reset_running_stats(self) -> None:
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        self.reset_running_stats()
        if self.affine:
            self.weight.detach().fill_(1)
            self.bias.detach().zero_()

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in self.ndims:
            names = " or ".join(f"{n}D" for n in self.ndims)
            raise ValueError(f"expected {names} input (got {input.ndim}D input)")
        if self.is_instance:
            return self._instance(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / self.num_batches_tracked.item()
        uses_batch = self.training or self.running_mean is None
        is_kept = not self.training or self.track_running_stats
        mean, var = (self.running_mean, self.running_var) if is_kept else (None, None)
        return F.batch_norm(input, mean, var, self.weight, self.bias, uses_batch, factor, self.eps)

    def _instance(self, input: Tensor) -> Tensor:
        uses_input = self.training or not self.track_running_stats
        single = input.ndim == min(self.ndims)
        batch = input.unsqueeze(0) if single else input
        momentum = 0.0 if self.momentum is None else self.momentum
        made = F.instance_norm(batch, self.running_mean, self.running_var, self.weight, self.bias, uses_input, momentum, self.eps)
        return made.squeeze(0) if single else made

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """As torch.nn.BatchNorm1d."""


class BatchNorm2d(_BatchNorm):
    """As torch.nn.BatchNorm2d."""

    ndims = (4,)


class BatchNorm3d(_BatchNorm):
    """As torch.nn.BatchNorm3d."""

    ndims = (5,)


class _InstanceNorm(_BatchNorm):
    is_instance = True
    affine_default, track_default = False, False


class InstanceNorm1d(_InstanceNorm):
    """As torch.nn.InstanceNorm1d."""


class InstanceNorm2d(_InstanceNorm):
    """As torch.nn.InstanceNorm2d."""

    ndims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """As torch.nn.InstanceNorm3d."""

    ndims = (4, 5)


class LayerNorm(Module):
    """As torch.nn.LayerNorm."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        of = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(_creation.ones(self.normalized_shape, **of)) if elementwise_affine else None)
        has_bias = elementwise_affine and bias
        self.register_parameter("bias", Parameter(_creation.zeros(self.normalized_shape, **of)) if has_bias else None)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, list(self.normalized_shape), self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    """As torch.nn.RMSNorm."""

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        made = Parameter(_creation.ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", made)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, list(self.normalized_shape), self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """As torch.nn.GroupNorm."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError("num_channels must be divisible by num_groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        of = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(_creation.ones(num_channels, **of)) if affine else None)
        self.register_parameter("bias", Parameter(_creation.zeros(num_channels, **of)) if affine else None)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


LocalResponseNorm = layer(
    "LocalResponseNorm",
    "size alpha=1e-4 beta=0.75 k=1.0",
    lambda s, x: F.local_response_norm(x, s.size, s.alpha, s.beta, s.k),
    lambda s: f"{s.size}, alpha={s.alpha}, beta={s.beta}, k={s.k}",
    module=__name__,
)
__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]
__all__ += ["LayerNorm", "LocalResponseNorm", "RMSNorm"]
