"""Single ops and layers: OPS[name](sizes) returns (run, leaves), as in ../layers/edgegrad.mjs."""

import torch
import torch.nn.functional as F
from torch import nn


def numbers(*shape):
    return torch.randn(*shape, requires_grad=True)


def elementwise(function):
    def make(shape):
        x = numbers(*shape)
        return lambda: function(x), [x]

    return make


def layer(module, x, call=None):
    return lambda: (call or module)(x), [x, *module.parameters()]


def cross_entropy(shape):
    x, labels = numbers(*shape), torch.randint(shape[1], (shape[0],))
    return lambda: F.cross_entropy(x, labels), [x]


def causal_attention(query, key, value):
    """Fused attention in PyTorch 2, or its composition of ops."""
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)
    length = query.shape[-2]
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ value


def attention(sizes):
    shape = [sizes[name] for name in ("batch", "heads", "length", "width")]
    leaves = [numbers(*shape) for _ in range(3)]
    return lambda: causal_attention(*leaves), leaves


def convolution(module):
    def make(sizes):
        batch, inputs, side, outputs, kernel = (
            sizes.pop(name) for name in ("batch", "inputs", "side", "outputs", "kernel")
        )
        return layer(module(inputs, outputs, kernel, bias=False, **sizes), numbers(batch, inputs, side, side))

    return make


def lstm(sizes):
    module = nn.LSTM(sizes["inputs"], sizes["hidden"], batch_first=True)
    x = numbers(sizes["batch"], sizes["length"], sizes["inputs"])
    return layer(module, x, lambda x: module(x)[0])


OPS = {
    "exp": elementwise(torch.exp),
    "log": elementwise(torch.log),
    "sigmoid": elementwise(torch.sigmoid),
    "tanh": elementwise(torch.tanh),
    "gelu": elementwise(F.gelu),
    "softmax": elementwise(lambda x: x.softmax(-1)),
    "transpose": elementwise(lambda x: x.t().contiguous()),
    "crossEntropy": cross_entropy,
    "attention": attention,
    "conv2d": convolution(nn.Conv2d),
    "convTranspose2d": convolution(nn.ConvTranspose2d),
    "batchNorm": lambda sizes: layer(
        nn.BatchNorm2d(sizes[1]), numbers(sizes[0], sizes[1], sizes[2], sizes[2])
    ),
    "layerNorm": lambda sizes: layer(nn.LayerNorm(sizes[1]), numbers(*sizes)),
    "lstm": lstm,
    "rfft": elementwise(torch.fft.rfft),
    "svd": elementwise(lambda x: torch.linalg.svd(x, full_matrices=False)),
}
