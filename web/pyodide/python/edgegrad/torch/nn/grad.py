"""torch.nn.grad: the gradients of convolutions by themselves."""

from .._declared import namespace

__getattr__ = namespace("nn.grad", __name__)
