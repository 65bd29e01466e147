"""A training step of LoRA on a Llama in PyTorch, for ../language/run.mjs. Arguments: the folder of the model, the sizes of the adapter and
the training as JSON. Prints the figures as JSON."""

import json
import math
import os
import struct
import sys
import time

import torch
import torch.nn.functional as F

import blas

DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32}


def read(folder):
    """Returns the tensors of model.safetensors as float32."""
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            start, end = entry["data_offsets"]
            file.seek(8 + length + start)
            data = torch.frombuffer(bytearray(file.read(end - start)), dtype=DTYPES[entry["dtype"]])
            tensors[name] = data.view(entry["shape"]).float()
        return tensors


class Adapted:
    """x Wᵀ + scaling x Aᵀ Bᵀ."""

    def __init__(self, weight, r, scaling):
        self.weight = weight
        self.scaling = scaling
        self.a = torch.full((r, weight.shape[1]), 0.01, requires_grad=True)
        self.b = torch.zeros((weight.shape[0], r), requires_grad=True)

    def __call__(self, x):
        return F.linear(x, self.weight) + F.linear(F.linear(x, self.a), self.b) * self.scaling


def norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def rotated(x, cos, sin):
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


class Llama:
    def __init__(self, folder, lora):
        with open(os.path.join(folder, "config.json")) as file:
            self.config = json.load(file)
        self.tensors = read(folder)
        self.trained = []
        scaling = lora["loraAlpha"] / lora["r"]
        for name, weight in list(self.tensors.items()):
            if name.split(".")[-2] in lora["targetModules"]:
                adapted = Adapted(weight, lora["r"], scaling)
                self.trained += [adapted.a, adapted.b]
                self.tensors[name] = adapted

    def project(self, name, x):
        weight = self.tensors[name + ".weight"]
        return weight(x) if isinstance(weight, Adapted) else F.linear(x, weight)

    def attention(self, name, x, cos, sin, mask):
        batch, tokens, width = x.shape
        heads, groups = self.config["num_attention_heads"], self.config["num_key_value_heads"]
        size = width // heads
        split = lambda part, count: self.project(f"{name}.{part}", x).view(batch, tokens, count, size).transpose(1, 2)
        q = rotated(split("q_proj", heads), cos, sin)
        k = rotated(split("k_proj", groups), cos, sin).repeat_interleave(heads // groups, 1)
        v = split("v_proj", groups).repeat_interleave(heads // groups, 1)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(size) + mask).softmax(-1)
        return self.project(f"{name}.o_proj", (weights @ v).transpose(1, 2).reshape(batch, tokens, width))

    def loss(self, ids):
        config = self.config
        eps, size = config["rms_norm_eps"], config["hidden_size"] // config["num_attention_heads"]
        tokens = ids.shape[1]
        frequencies = config["rope_theta"] ** (-torch.arange(0, size, 2).float() / size)
        angles = torch.outer(torch.arange(tokens).float(), frequencies).repeat(1, 2)
        cos, sin = angles.cos(), angles.sin()
        mask = torch.full((tokens, tokens), -math.inf).triu(1)
        table = self.tensors["model.embed_tokens.weight"]
        x = F.embedding(ids, table)
        for i in range(config["num_hidden_layers"]):
            name = f"model.layers.{i}"
            normed = norm(x, self.tensors[f"{name}.input_layernorm.weight"], eps)
            x = x + self.attention(f"{name}.self_attn", normed, cos, sin, mask)
            normed = norm(x, self.tensors[f"{name}.post_attention_layernorm.weight"], eps)
            gate = F.silu(self.project(f"{name}.mlp.gate_proj", normed))
            x = x + self.project(f"{name}.mlp.down_proj", gate * self.project(f"{name}.mlp.up_proj", normed))
        logits = F.linear(norm(x, self.tensors["model.norm.weight"], eps), table)
        return F.cross_entropy(logits[0, :-1], ids[0, 1:])


def main():
    folder, settings = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(settings["threads"])
    model = Llama(folder, settings["lora"])
    optimizer = torch.optim.AdamW(model.trained, lr=1e-3, weight_decay=0.01)
    ids = torch.tensor([settings["tokens"]])
    times, losses = [], []
    for _ in range(settings["count"]):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = model.loss(ids)
        loss.backward()
        optimizer.step()
        times.append((time.perf_counter() - begin) * 1e3)
        losses.append(loss.item())
    times = sorted(times[1:])
    with open("/proc/self/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    step = times[len(times) // 2]
    print(json.dumps({"msPerStep": step, "losses": losses, "processMegabytes": peak / 1e3, "blas": blas.describe()}))


main()
