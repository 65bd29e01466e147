"""A small language model with causal attention."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

TEXT = "to be or not to be that is the question "
CHARS = sorted(set(TEXT))


class Attention(nn.Module):
    def __init__(self, size, heads, context):
        super().__init__()
        assert size % heads == 0
        self.qkv, self.proj, self.heads = nn.Linear(size, 3 * size), nn.Linear(size, size), heads
        self.register_buffer("mask", torch.tril(torch.ones(context, context)).view(1, 1, context, context))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(x).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(scores, dim=-1) @ v
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, size, heads, context):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention = Attention(size, heads, context)
        self.mlp = nn.Sequential(nn.Linear(size, 2 * size), nn.GELU(), nn.Linear(2 * size, size))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary, size=16, heads=2, context=8):
        super().__init__()
        self.context = context
        self.token, self.position = nn.Embedding(vocabulary, size), nn.Embedding(context, size)
        self.blocks = nn.ModuleList([Block(size, heads, context) for _ in range(2)])
        self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, vocabulary, bias=False)

    def forward(self, ids, targets=None):
        x = self.token(ids) + self.position(torch.arange(ids.size(1), device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        loss = None if targets is None else F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))
        return logits, loss

    @torch.no_grad()
    def generate(self, ids, count):
        for _ in range(count):
            logits, _ = self(ids[:, -self.context :])
            probs = F.softmax(logits[:, -1, :], dim=-1)
            ids = torch.cat((ids, torch.multinomial(probs, num_samples=1)), dim=1)
        return ids


def main():
    torch.manual_seed(0)
    data = torch.tensor([CHARS.index(c) for c in TEXT * 4], dtype=torch.long)
    model = GPT(len(CHARS))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(40):
        starts = torch.randint(len(data) - model.context - 1, (8,))
        x = torch.stack([data[i : i + model.context] for i in starts])
        y = torch.stack([data[i + 1 : i + model.context + 1] for i in starts])
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    made = model.generate(torch.zeros((1, 1), dtype=torch.long), 10)[0].tolist()
    assert len("".join(CHARS[i] for i in made)) == 11
    return losses
