"""Pooling."""

from __future__ import annotations

from typing import Any

from . import functional as F
from .made import layer
from .module import Module


def _max_pool(n: int) -> type:
    def call(self: Any, input: Any) -> Any:
        keywords = {"return_indices": True} if self.return_indices else {}
        return getattr(F, f"max_pool{n}d")(
            input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode, **keywords
        )

    return layer(
        f"MaxPool{n}d",
        "kernel_size stride=None padding=0 dilation=1 return_indices=False ceil_mode=False",
        call,
        lambda s: f"kernel_size={s.kernel_size}, stride={s.kernel_size if s.stride is None else s.stride}, "
        f"padding={s.padding}, dilation={s.dilation}, ceil_mode={s.ceil_mode}",
        module=__name__,
    )


def _avg_pool(n: int) -> type:
    def call(self: Any, input: Any) -> Any:
        keywords = {} if n == 1 or self.divisor_override is None else {"divisor_override": self.divisor_override}
        return getattr(F, f"avg_pool{n}d")(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, **keywords
        )

    more = "" if n == 1 else " divisor_override=None"
    def shown(self: Any) -> str:
        values = {"kernel_size": self.kernel_size, "stride": self.stride, "padding": self.padding}
        if values["stride"] is None:
            values["stride"] = self.kernel_size
        if n == 1:
            # As PyTorch prints it.
            values = {key: (one,) if isinstance(one, int) else one for key, one in values.items()}
        return ", ".join(f"{key}={one}" for key, one in values.items())

    return layer(
        f"AvgPool{n}d",
        "kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True" + more,
        call,
        shown,
        module=__name__,
    )


def _adaptive(name: str, function: str, more: str = "") -> type:
    def call(self: Any, input: Any) -> Any:
        keywords = {"return_indices": True} if getattr(self, "return_indices", False) else {}
        return getattr(F, function)(input, self.output_size, **keywords)

    return layer(name, "output_size" + more, call, lambda s: f"output_size={s.output_size}", module=__name__)


def _fractional(n: int) -> type:
    names = "kernel_size output_size=None output_ratio=None return_indices=False _random_samples=None"
    words = [word.split("=")[0] for word in names.split()]

    def call(self: Any, input: Any) -> Any:
        return getattr(F, f"fractional_max_pool{n}d")(input, **{word: getattr(self, word) for word in words})

    made = layer(f"FractionalMaxPool{n}d", names, call, lambda s: "", module=__name__)
    init = made.__init__

    def construct(self: Any, *args: Any, **keywords: Any) -> None:
        init(self, *args, **keywords)
        if (self.output_size is None) == (self.output_ratio is None):
            raise ValueError(f"FractionalMaxPool{n}d: pass either output_size or output_ratio")
        ratios = self.output_ratio if isinstance(self.output_ratio, (tuple, list)) else (self.output_ratio,)
        if self.output_ratio is not None and not all(0 < one < 1 for one in ratios):
            raise ValueError(f"FractionalMaxPool{n}d: output_ratio: expected numbers between 0 and 1, got {self.output_ratio}")
        self.register_buffer("_random_samples", self.__dict__.pop("_random_samples"))

    setattr(made, "__init__", construct)
    return made


FractionalMaxPool2d, FractionalMaxPool3d = map(_fractional, (2, 3))
MaxPool1d, MaxPool2d, MaxPool3d = map(_max_pool, (1, 2, 3))
AvgPool1d, AvgPool2d, AvgPool3d = map(_avg_pool, (1, 2, 3))
for _n in (1, 2, 3):
    globals()[f"AdaptiveAvgPool{_n}d"] = _adaptive(f"AdaptiveAvgPool{_n}d", f"adaptive_avg_pool{_n}d")
    globals()[f"AdaptiveMaxPool{_n}d"] = _adaptive(f"AdaptiveMaxPool{_n}d", f"adaptive_max_pool{_n}d", " return_indices=False")
    globals()[f"MaxUnpool{_n}d"] = layer(
        f"MaxUnpool{_n}d",
        "kernel_size stride=None padding=0",
        lambda s, x, indices, output_size=None, _f=f"max_unpool{_n}d": getattr(F, _f)(
            x, indices, s.kernel_size, s.stride, s.padding, output_size
        ),
        module=__name__,
    )
    globals()[f"LPPool{_n}d"] = layer(
        f"LPPool{_n}d",
        "norm_type kernel_size stride=None ceil_mode=False",
        lambda s, x, _f=f"lp_pool{_n}d": getattr(F, _f)(x, s.norm_type, s.kernel_size, s.stride, s.ceil_mode),
        module=__name__,
    )
__all__ = [name for name, one in list(globals().items()) if isinstance(one, type) and issubclass(one, Module) and one is not Module]
