"""Layers that only move elements: flatten, padding, upsampling, shuffling."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .made import layer
from .module import Module

Flatten = layer("Flatten", "start_dim=1 end_dim=-1", lambda s, x: x.flatten(s.start_dim, s.end_dim), module=__name__)
Unflatten = layer(
    "Unflatten",
    "dim unflattened_size",
    lambda s, x: x.unflatten(s.dim, list(s.unflattened_size)),
    module=__name__,
)
PixelShuffle = layer("PixelShuffle", "upscale_factor", lambda s, x: F.pixel_shuffle(x, s.upscale_factor), module=__name__)
PixelUnshuffle = layer("PixelUnshuffle", "downscale_factor", lambda s, x: F.pixel_unshuffle(x, s.downscale_factor), module=__name__)
ChannelShuffle = layer("ChannelShuffle", "groups", lambda s, x: F.channel_shuffle(x, s.groups), module=__name__)
Fold = layer(
    "Fold",
    "output_size kernel_size dilation=1 padding=0 stride=1",
    lambda s, x: F.fold(x, s.output_size, s.kernel_size, dilation=s.dilation, padding=s.padding, stride=s.stride),
    module=__name__,
)
Unfold = layer(
    "Unfold",
    "kernel_size dilation=1 padding=0 stride=1",
    lambda s, x: F.unfold(x, s.kernel_size, dilation=s.dilation, padding=s.padding, stride=s.stride),
    module=__name__,
)
Upsample = layer(
    "Upsample",
    "size=None scale_factor=None mode='nearest' align_corners=None recompute_scale_factor=None",
    lambda s, x: F.interpolate(x, s.size, s.scale_factor, s.mode, s.align_corners),
    lambda s: (f"scale_factor={s.scale_factor}" if s.scale_factor is not None else f"size={s.size}") + f", mode={s.mode!r}",
    module=__name__,
)
UpsamplingNearest2d = layer(
    "UpsamplingNearest2d", "size=None scale_factor=None", lambda s, x: F.interpolate(x, s.size, s.scale_factor), module=__name__
)
UpsamplingBilinear2d = layer(
    "UpsamplingBilinear2d",
    "size=None scale_factor=None",
    lambda s, x: F.interpolate(x, s.size, s.scale_factor, "bilinear", True),
    module=__name__,
)


def _padding(name: str, sides: int, mode: str) -> type:
    words = "padding value" if name.startswith("Constant") else "padding"

    def call(self: Any, input: Any) -> Any:
        return F.pad(input, self.padding, mode, getattr(self, "value", 0.0))

    def shown(self: Any) -> str:
        return f"padding={self.padding}, value={self.value}" if words != "padding" else str(self.padding)

    made = layer(name, words, call, shown, module=__name__)
    init = made.__init__

    def construct(self: Any, padding: Any, *rest: Any, **keywords: Any) -> None:
        init(self, (padding,) * sides if isinstance(padding, int) else tuple(padding), *rest, **keywords)

    setattr(made, "__init__", construct)
    return made


for _n in (1, 2, 3):
    for _name, _mode in (("Constant", "constant"), ("Reflection", "reflect"), ("Replication", "replicate"), ("Circular", "circular")):
        globals()[f"{_name}Pad{_n}d"] = _padding(f"{_name}Pad{_n}d", 2 * _n, _mode)


ZeroPad1d, ZeroPad2d, ZeroPad3d = (_padding(f"ZeroPad{n}d", 2 * n, "constant") for n in (1, 2, 3))
__all__ = [name for name, one in list(globals().items()) if isinstance(one, type) and issubclass(one, Module) and one is not Module]
