"""Convolutions."""

from __future__ import annotations

import math
from typing import Any

from .._tensor import Tensor
from . import functional as F, init
from .linear import empty_parameter
from .module import Module


def tuple_of(value: Any, n: int) -> tuple:
    """A number for every dimension."""
    return (value,) * n if isinstance(value, int) else tuple(value)


class _Convolution(Module):
    dims = 2
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0 or in_channels % groups or out_channels % groups:
            raise ValueError(f"in_channels {in_channels} and out_channels {out_channels} must be divisible by groups {groups}")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"padding_mode must be zeros, reflect, replicate or circular, got {padding_mode!r}")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"padding must be 'same', 'valid' or numbers, got {padding!r}")
            if padding == "same" and any(one != 1 for one in tuple_of(stride, self.dims)):
                raise ValueError(f"padding='same' is only possible with a stride of 1, got {stride}")
        n = self.dims
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size, self.stride, self.dilation = tuple_of(kernel_size, n), tuple_of(stride, n), tuple_of(dilation, n)
        self.padding = padding if isinstance(padding, str) else tuple_of(padding, n)
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = empty_parameter(first, second // groups, *self.kernel_size, device=device, dtype=dtype)
        if bias:
            self.bias = empty_parameter(out_channels, device=device, dtype=dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan = self.weight.shape[1:].numel()
            if fan:
                bound = 1 / math.sqrt(fan)
                init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        padding: Any = self.padding if isinstance(self.padding, str) else list(self.padding)
        if self.padding_mode != "zeros":
            input = F.pad(input, self._sides(), self.padding_mode)
            padding = [0] * self.dims
        return getattr(F, f"conv{self.dims}d")(
            input, self.weight, self.bias, list(self.stride), padding, list(self.dilation), self.groups
        )

    def _sides(self) -> list[int]:
        if self.padding == "valid":
            return [0, 0] * self.dims
        sides: list[int] = []
        for place in reversed(range(self.dims)):
            if self.padding == "same":
                total = self.dilation[place] * (self.kernel_size[place] - 1)
                sides += [total // 2, total - total // 2]
            else:
                sides += [self.padding[place]] * 2
        return sides

    def extra_repr(self) -> str:
        n = self.dims
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * n:
            text += f", padding={self.padding}" if not isinstance(self.padding, str) else f", padding={self.padding}"
        if self.dilation != (1,) * n:
            text += f", dilation={self.dilation}"
        if getattr(self, "output_padding", (0,) * n) != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        return text + (f", padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "")


class Conv1d(_Convolution):
    """As torch.nn.Conv1d."""

    dims = 1


class Conv2d(_Convolution):
    """As torch.nn.Conv2d."""


class Conv3d(_Convolution):
    """As torch.nn.Conv3d."""

    dims = 3


class _Transposed(_Convolution):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError('Only "zeros" padding mode is supported for transposed convolutions')
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, "zeros", device, dtype)
        self.output_padding = tuple_of(output_padding, self.dims)

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        return getattr(F, f"conv_transpose{self.dims}d")(
            input, self.weight, self.bias, list(self.stride), list(self.padding), list(extra), self.groups, list(self.dilation)
        )

    def _extra(self, input: Tensor, output_size: Any) -> tuple:
        wanted = list(output_size)[-self.dims :]
        sizes = input.shape[-self.dims :]
        extra = []
        for i, size in enumerate(sizes):
            least = (size - 1) * self.stride[i] - 2 * self.padding[i] + self.dilation[i] * (self.kernel_size[i] - 1) + 1
            if not 0 <= wanted[i] - least < max(self.stride[i], 2):
                raise ValueError(f"output_size: {wanted[i]} is not possible for an input of size {size}, which gives {least} or more")
            extra.append(wanted[i] - least)
        return tuple(extra)


class ConvTranspose1d(_Transposed):
    """As torch.nn.ConvTranspose1d."""

    dims = 1


class ConvTranspose2d(_Transposed):
    """As torch.nn.ConvTranspose2d."""


class ConvTranspose3d(_Transposed):
    """As torch.nn.ConvTranspose3d."""

    dims = 3


__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]
