"""Losses."""

from __future__ import annotations

from typing import Any, Callable

from .._tensor import Tensor
from . import functional as F
from .made import layer
from .module import Module


def _loss(name: str, function: str, names: str = "", weighted: tuple[str, ...] = (), more: str = "") -> type:
    """A loss: its tensors are buffers, its other settings keywords of the function."""
    settings = [word.split("=")[0] for word in names.split()]
    words = f"{names} size_average=None reduce=None reduction='mean' {more}"

    def call(self: Any, *tensors: Any) -> Tensor:
        keywords = {key: getattr(self, key) for key in settings if getattr(self, key) is not None}
        return getattr(F, function)(*tensors, reduction=self.reduction, **keywords)

    own = [word.split("=")[0] for word in more.split()]
    settings += own
    made = layer(name, words, call, lambda self: "", module=__name__)
    init = made.__init__

    def construct(self: Any, *args: Any, **keywords: Any) -> None:
        init(self, *args, **keywords)
        if self.size_average is not None or self.reduce is not None:
            raise TypeError(f"{name}(size_average, reduce): write reduction='mean', 'sum' or 'none'")
        for key in weighted:
            value = self.__dict__.pop(key)
            self.register_buffer(key, value)

    setattr(made, "__init__", construct)
    return made


L1Loss, MSELoss = _loss("L1Loss", "l1_loss"), _loss("MSELoss", "mse_loss")
SmoothL1Loss = _loss("SmoothL1Loss", "smooth_l1_loss", more="beta=1.0")
HuberLoss: type = layer(
    "HuberLoss",
    "reduction='mean' delta=1.0",
    lambda s, x, y: F.huber_loss(x, y, reduction=s.reduction, delta=s.delta),
    lambda self: "",
    module=__name__,
)
CrossEntropyLoss: type = layer(
    "CrossEntropyLoss",
    "weight=None size_average=None ignore_index=-100 reduce=None reduction='mean' label_smoothing=0.0",
    lambda s, x, y: F.cross_entropy(
        x, y, s.weight, ignore_index=s.ignore_index, reduction=s.reduction, label_smoothing=s.label_smoothing
    ),
    lambda self: "",
    module=__name__,
)
NLLLoss: type = layer(
    "NLLLoss",
    "weight=None size_average=None ignore_index=-100 reduce=None reduction='mean'",
    lambda s, x, y: F.nll_loss(x, y, s.weight, ignore_index=s.ignore_index, reduction=s.reduction),
    lambda self: "",
    module=__name__,
)
BCELoss = _loss("BCELoss", "binary_cross_entropy", "weight=None", ("weight",))
BCEWithLogitsLoss: type = layer(
    "BCEWithLogitsLoss",
    "weight=None size_average=None reduce=None reduction='mean' pos_weight=None",
    lambda s, x, y: F.binary_cross_entropy_with_logits(x, y, weight=s.weight, reduction=s.reduction, pos_weight=s.pos_weight),
    lambda self: "",
    module=__name__,
)
KLDivLoss = _loss("KLDivLoss", "kl_div", more="log_target=False")
PoissonNLLLoss: type = layer(
    "PoissonNLLLoss",
    "log_input=True full=False size_average=None eps=1e-8 reduce=None reduction='mean'",
    lambda s, x, y: F.poisson_nll_loss(x, y, log_input=s.log_input, full=s.full, eps=s.eps, reduction=s.reduction),
    lambda self: "",
    module=__name__,
)
GaussianNLLLoss: type = layer(
    "GaussianNLLLoss",
    "full=False eps=1e-6 reduction='mean'",
    lambda s, x, y, var: F.gaussian_nll_loss(x, y, var, full=s.full, eps=s.eps, reduction=s.reduction),
    lambda self: "",
    module=__name__,
)
HingeEmbeddingLoss = _loss("HingeEmbeddingLoss", "hinge_embedding_loss", "margin=1.0")
MarginRankingLoss = _loss("MarginRankingLoss", "margin_ranking_loss", "margin=0.0")
CosineEmbeddingLoss = _loss("CosineEmbeddingLoss", "cosine_embedding_loss", "margin=0.0")
SoftMarginLoss = _loss("SoftMarginLoss", "soft_margin_loss")
MultiLabelMarginLoss = _loss("MultiLabelMarginLoss", "multilabel_margin_loss")
MultiLabelSoftMarginLoss = _loss("MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss", "weight=None", ("weight",))
MultiMarginLoss = _loss("MultiMarginLoss", "multi_margin_loss", "p=1 margin=1.0 weight=None", ("weight",))
TripletMarginLoss = _loss("TripletMarginLoss", "triplet_margin_loss", "margin=1.0 p=2.0 eps=1e-6 swap=False")


class CTCLoss(Module):
    """As torch.nn.CTCLoss."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__()
        self.blank, self.reduction, self.zero_infinity = blank, reduction, zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        from .._calls import function

        options = {"blank": self.blank, "reduction": self.reduction, "zeroInfinity": self.zero_infinity}
        return function("", "ctcLoss", [log_probs, targets, input_lengths, target_lengths], options)


def _buffered(cls: type, *names: str) -> None:
    """Makes settings that are tensors buffers."""
    init: Callable = cls.__init__  # type: ignore[misc]

    def construct(self: Any, *args: Any, **keywords: Any) -> None:
        init(self, *args, **keywords)
        if getattr(self, "size_average", None) is not None or getattr(self, "reduce", None) is not None:
            raise TypeError(f"{cls.__name__}(size_average, reduce): write reduction='mean', 'sum' or 'none'")
        for name in names:
            self.register_buffer(name, self.__dict__.pop(name))

    setattr(cls, "__init__", construct)


_buffered(CrossEntropyLoss, "weight")
_buffered(NLLLoss, "weight")
_buffered(BCEWithLogitsLoss, "weight", "pos_weight")
_buffered(PoissonNLLLoss)
__all__ = [name for name, one in list(globals().items()) if isinstance(one, type) and issubclass(one, Module) and one is not Module]
