"""Activations."""

from __future__ import annotations

from typing import Any

from .. import _creation
from .._parameter import Parameter
from . import functional as F
from .made import layer
from .module import Module


def _inplace(self: Any) -> str:
    return "inplace=True" if self.inplace else ""


def _nothing(self: Any) -> str:
    return ""


def _with_inplace(*names: str) -> Any:
    def shown(self: Any) -> str:
        parts = [f"{name}={getattr(self, name)}" for name in names]
        return ", ".join(parts + (["inplace=True"] if self.inplace else []))

    return shown


def _of(*names: str) -> Any:
    return lambda self: ", ".join(f"{name}={getattr(self, name)}" for name in names)


def _plain(*names: str) -> Any:
    return lambda self: ", ".join(str(getattr(self, name)) for name in names)


ReLU = layer("ReLU", "inplace=False", lambda s, x: x.relu_() if s.inplace else x.relu(), _inplace, module=__name__)
ReLU6 = layer("ReLU6", "inplace=False", lambda s, x: F.relu6(x, inplace=s.inplace), _inplace, module=__name__)
SiLU = layer("SiLU", "inplace=False", lambda s, x: F.silu(x, inplace=s.inplace), _inplace, module=__name__)
Mish = layer("Mish", "inplace=False", lambda s, x: F.mish(x, inplace=s.inplace), _inplace, module=__name__)
SELU = layer("SELU", "inplace=False", lambda s, x: F.selu(x, inplace=s.inplace), _inplace, module=__name__)
Hardswish = layer("Hardswish", "inplace=False", lambda s, x: F.hardswish(x, inplace=s.inplace), _nothing, module=__name__)
Hardsigmoid = layer("Hardsigmoid", "inplace=False", lambda s, x: F.hardsigmoid(x, inplace=s.inplace), _nothing, module=__name__)
ELU = layer("ELU", "alpha=1.0 inplace=False", lambda s, x: F.elu(x, s.alpha, inplace=s.inplace), _with_inplace("alpha"), module=__name__)
CELU = layer("CELU", "alpha=1.0 inplace=False", lambda s, x: F.celu(x, s.alpha, inplace=s.inplace), _with_inplace("alpha"), module=__name__)
LeakyReLU = layer(
    "LeakyReLU",
    "negative_slope=0.01 inplace=False",
    lambda s, x: F.leaky_relu(x, s.negative_slope, inplace=s.inplace),
    _with_inplace("negative_slope"),
    module=__name__,
)
Hardtanh = layer(
    "Hardtanh",
    "min_val=-1.0 max_val=1.0 inplace=False",
    lambda s, x: F.hardtanh(x, s.min_val, s.max_val, inplace=s.inplace),
    _with_inplace("min_val", "max_val"),
    module=__name__,
)
RReLU = layer(
    "RReLU",
    "lower=0.125 upper=1/3 inplace=False",
    lambda s, x: F.rrelu(x, s.lower, s.upper, s.training, s.inplace),
    _with_inplace("lower", "upper"),
    module=__name__,
)
Threshold = layer(
    "Threshold",
    "threshold value inplace=False",
    lambda s, x: F.threshold(x, s.threshold, s.value, inplace=s.inplace),
    _with_inplace("threshold", "value"),
    module=__name__,
)
GELU = layer("GELU", "approximate='none'", lambda s, x: F.gelu(x, approximate=s.approximate), module=__name__)
Tanh = layer("Tanh", "", lambda s, x: x.tanh(), module=__name__)
Sigmoid = layer("Sigmoid", "", lambda s, x: x.sigmoid(), module=__name__)
LogSigmoid = layer("LogSigmoid", "", lambda s, x: F.logsigmoid(x), module=__name__)
Softsign = layer("Softsign", "", lambda s, x: F.softsign(x), module=__name__)
Tanhshrink = layer("Tanhshrink", "", lambda s, x: F.tanhshrink(x), module=__name__)
Softplus = layer("Softplus", "beta=1.0 threshold=20.0", lambda s, x: F.softplus(x, s.beta, s.threshold), module=__name__)
Softshrink = layer("Softshrink", "lambd=0.5", lambda s, x: F.softshrink(x, s.lambd), _plain("lambd"), module=__name__)
Hardshrink = layer("Hardshrink", "lambd=0.5", lambda s, x: F.hardshrink(x, s.lambd), _plain("lambd"), module=__name__)
GLU = layer("GLU", "dim=-1", lambda s, x: F.glu(x, s.dim), module=__name__)
Softmax = layer("Softmax", "dim=None", lambda s, x: F.softmax(x, s.dim), module=__name__)
LogSoftmax = layer("LogSoftmax", "dim=None", lambda s, x: F.log_softmax(x, s.dim), module=__name__)
Softmin = layer("Softmin", "dim=None", lambda s, x: F.softmin(x, s.dim), module=__name__)
Softmax2d = layer("Softmax2d", "", lambda s, x: F.softmax(x, -3), module=__name__)


class PReLU(Module):
    """As torch.nn.PReLU."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.weight = Parameter(_creation.full((num_parameters,), init, device=device, dtype=dtype or _creation.get_default_dtype()))

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


__all__ = [name for name, one in list(globals().items()) if isinstance(one, type) and issubclass(one, Module) and one is not Module]
