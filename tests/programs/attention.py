# Attention: transformers and their parts.

import math

import torch
from torch import nn, optim
from torch.nn import functional as F


def sgd_steps(model, loss_of, record, steps=15, lr=1e-2, params=None):
    params = list(model.parameters()) if params is None else params
    optimizer = optim.Adam(params, lr=lr, betas=(0.9, 0.98), eps=1e-6)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        record(loss)
    return params


def encoder(**options):
    def program(record, dtype):
        x = torch.randn(5, 3, 8, dtype=dtype)
        y = torch.randint(0, 2, (3,))
        padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2, [False] * 4 + [True]])
        layer = nn.TransformerEncoderLayer(8, 2, 16, **options)
        model = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8)).to(dtype)
        head = nn.Linear(8, 2).to(dtype)
        if layer.self_attn.batch_first:
            x = x.transpose(0, 1)

        def loss_of():
            out = model(x, src_key_padding_mask=padding)
            first = out[:, 0] if layer.self_attn.batch_first else out[0]
            return F.cross_entropy(head(first), y)

        params = sgd_steps(model, loss_of, record, params=[*model.parameters(), *head.parameters()])
        # In evaluation mode PyTorch 2.6 disables dropout; 1.13 uses a fast path, with the same results.
        model.eval()
        record(loss_of())
        return params

    return program


def decoder(record, dtype):
    memory = torch.randn(4, 2, 8, dtype=dtype)
    target = torch.randn(6, 2, 8, dtype=dtype)
    model = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 4, 12, dropout=0.2, activation="gelu"), 2).to(dtype)
    causal = nn.Transformer.generate_square_subsequent_mask(6).to(dtype)

    def loss_of():
        out = model(target[:-1], memory, tgt_mask=causal[:5, :5])
        return F.mse_loss(out, target[1:])

    return sgd_steps(model, loss_of, record)


def whole(record, dtype):
    source = torch.randint(0, 9, (5, 3))
    target = torch.cat([torch.zeros(1, 3, dtype=torch.long), source.flip(0)])
    embed, head = nn.Embedding(9, 8), nn.Linear(8, 9)
    nn.init.kaiming_uniform_(embed.weight, a=math.sqrt(5))
    transformer = nn.Transformer(8, 2, 2, 2, 16, dropout=0.1, norm_first=True)
    model = nn.ModuleList([embed, transformer, head]).to(dtype)
    position = torch.sin(torch.arange(6, dtype=dtype)[:, None, None] * 0.7 ** torch.arange(8, dtype=dtype))
    mask = transformer.generate_square_subsequent_mask(5).to(dtype)

    def loss_of():
        out = transformer(
            embed(source) * math.sqrt(8) + position[:5], embed(target[:-1]) * math.sqrt(8) + position[:5], tgt_mask=mask
        )
        return F.cross_entropy(head(out).reshape(-1, 9), target[1:].reshape(-1), ignore_index=3)

    return sgd_steps(model, loss_of, record)


def cross_attention(record, dtype):
    q, k, v = torch.randn(2, 3, 8, dtype=dtype), torch.randn(2, 5, 6, dtype=dtype), torch.randn(2, 5, 4, dtype=dtype)
    attention = nn.MultiheadAttention(8, 2, dropout=0.3, bias=True, kdim=6, vdim=4, batch_first=True, add_bias_kv=True)
    nn.init.zeros_(attention.bias_k)
    nn.init.ones_(attention.bias_v)
    attention = attention.to(dtype)
    mask = torch.rand(3, 5) < 0.3

    def loss_of():
        out, weights = attention(q, k, v, attn_mask=mask)
        return (out**2).sum() - weights.square().sum()

    return sgd_steps(attention, loss_of, record)


def self_attention(record, dtype):
    x = torch.randn(6, 2, 8, dtype=dtype)
    attention = nn.MultiheadAttention(8, 4, dropout=0.1, bias=False, add_zero_attn=True).to(dtype)
    bias = torch.randn(6, 6, dtype=dtype)

    def loss_of():
        out, weights = attention(x, x, x, attn_mask=bias, average_attn_weights=False)
        return F.mse_loss(out, x.flip(0)) + weights.std()

    return sgd_steps(attention, loss_of, record)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width, eps=1e-6)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width), nn.Dropout(0.1))
        self.register_buffer("mask", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = F.dropout(F.softmax(att, dim=-1), 0.1, self.training)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        x = x + self.proj(y)
        return x + self.mlp(self.ln2(x))


def gpt(record, dtype):
    """nanoGPT: tied weights, weight decay for matrices only, warm-up, clipping, then top-k sampling."""
    tokens = torch.randint(0, 12, (6, 9))
    wte, wpe = nn.Embedding(12, 8), nn.Embedding(8, 8)
    blocks = nn.ModuleList([Block(8, 2) for _ in range(2)])
    head = nn.Linear(8, 12, bias=False)
    wte.weight = head.weight
    model = nn.ModuleDict({"wte": wte, "wpe": wpe, "blocks": blocks, "head": head})
    for name, p in model.named_parameters():
        if name.endswith("proj.weight"):
            nn.init.uniform_(p, -0.02, 0.02)
        elif p.dim() == 2:
            nn.init.uniform_(p, -0.1, 0.1)
    model = model.to(dtype)

    def logits_of(idx):
        x = wte(idx) + wpe(torch.arange(idx.size(1)))
        for block in blocks:
            x = block(x)
        return head(x)

    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95))
    scheduler = optim.lr_scheduler.LambdaLR(
        optimizer, lambda it: (it + 1) / 5 if it < 5 else 0.1 + 0.45 * (1 + math.cos(math.pi * (it - 5) / 15))
    )
    for _ in range(20):
        logits = logits_of(tokens[:, :-1])
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        record(nn.utils.clip_grad_norm_(model.parameters(), 1.0))
        optimizer.step()
        scheduler.step()
        record(loss)
    model.eval()
    idx = torch.zeros(1, 1, dtype=torch.long)
    with torch.no_grad():
        for _ in range(7):
            logits = logits_of(idx)[:, -1, :] / 0.9
            v, _ = torch.topk(logits, 5)
            logits[logits < v[:, [-1]]] = -float("inf")
            idx = torch.cat((idx, torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)), dim=1)
            record(float(idx[0, -1]))
    return model.parameters()


def vit(record, dtype):
    """A vision transformer with a class token."""
    images = torch.randn(6, 3, 8, 8, dtype=dtype)
    labels = torch.randint(0, 3, (6,))

    class ViT(nn.Module):
        def __init__(self):
            super().__init__()
            self.patch = nn.Conv2d(3, 8, 4, stride=4)
            self.cls = nn.Parameter(torch.zeros(1, 1, 8))
            self.pos = nn.Parameter(torch.rand(1, 5, 8) * 0.02)
            layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, "gelu", batch_first=True, norm_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2)
            self.head = nn.Linear(8, 3)

        def forward(self, x):
            x = self.patch(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
            return self.head(self.encoder(x)[:, 0])

    model = ViT().to(dtype)
    return sgd_steps(model, lambda: F.cross_entropy(model(images), labels, label_smoothing=0.1), record)


programs = {
    "encoder": encoder(),
    "encoder, norm first": encoder(dropout=0.2, norm_first=True, activation="gelu"),
    "encoder, batch first": encoder(dropout=0.0, batch_first=True, layer_norm_eps=1e-3),
    "decoder": decoder,
    "transformer": whole,
    "cross-attention": cross_attention,
    "self-attention": self_attention,
    "GPT": gpt,
    "ViT": vit,
}
