"""The models: MODELS[name] is (start(layers), inputs(batch)), as in ../models/edgegrad.mjs."""

import torch
import torch.nn.functional as F
from torch import nn

from layers import causal_attention


def with_values(module, values):
    with torch.no_grad():
        module.weight.copy_(values["weight"].view(module.weight.shape))
        if "bias" in values:
            module.bias.copy_(values["bias"])
    return module


def dense(values):
    return with_values(nn.Linear(values["inputs"], values["outputs"]), values)


def start_mlp(layers):
    modules = []
    for layer in layers:
        modules += [dense(layer), nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def start_cnn(layers):
    modules = []
    for values in layers["convolutions"]:
        outputs, inputs, size, _ = values["shape"]
        convolution = nn.Conv2d(inputs, outputs, size, padding=layers["padding"])
        modules += [with_values(convolution, values), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*modules, nn.Flatten(), dense(layers["head"]))


class Block(nn.Module):
    def __init__(self, values, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(values["qkv"]["inputs"])
        self.norm2 = nn.LayerNorm(values["up"]["inputs"])
        for name in ("qkv", "projection", "up", "down"):
            setattr(self, name, dense(values[name]))

    def forward(self, x):
        attended = x + self.attend(self.norm1(x))
        hidden = F.gelu(self.up(self.norm2(attended)), approximate="tanh")
        return attended + self.down(hidden)

    def attend(self, x):
        batch, context, width = x.shape
        parts = self.qkv(x).view(batch, context, 3, self.heads, width // self.heads)
        mixed = causal_attention(*parts.permute(2, 0, 3, 1, 4).unbind(0))
        return self.projection(mixed.transpose(1, 2).reshape(batch, context, width))


class Gpt(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.tokens = with_values(nn.Embedding(*layers["tokens"]["shape"]), layers["tokens"])
        self.positions = with_values(nn.Embedding(*layers["positions"]["shape"]), layers["positions"])
        self.blocks = nn.Sequential(*(Block(block, layers["heads"]) for block in layers["blocks"]))
        self.norm = nn.LayerNorm(layers["head"]["inputs"])
        self.head = dense(layers["head"])

    def forward(self, x):
        value = self.blocks(self.tokens(x) + self.positions.weight)
        return self.head(self.norm(value)).flatten(0, 1)


def images(*shape):
    return lambda batch: (batch["x"].view(-1, *shape), batch["labels"].long())


def tokens(batch):
    return batch["x"].long().view(-1, batch["context"]), batch["labels"].long()


MODELS = {
    "mlp": (start_mlp, images(784)),
    "cnn": (start_cnn, images(1, 28, 28)),
    "gpt": (Gpt, tokens),
}
