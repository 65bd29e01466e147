"""Multi-head attention."""

from __future__ import annotations

from typing import Any

from .._creation import zeros
from .._functions import find
from .._parameter import Parameter
from .._tensor import Tensor
from . import functional as F, init
from .linear import Linear, empty_parameter
from .module import Module

_cat = find("cat")


class MultiheadAttention(Module):
    """As torch.nn.MultiheadAttention."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        of = {"device": device, "dtype": dtype}
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._same = self.kdim == embed_dim and self.vdim == embed_dim
        names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        if self._same:
            self.in_proj_weight = empty_parameter(3 * embed_dim, embed_dim, **of)
            for name in names:
                self.register_parameter(name, None)
        else:
            for name, columns in zip(names, (embed_dim, self.kdim, self.vdim)):
                setattr(self, name, empty_parameter(embed_dim, columns, **of))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", Parameter(zeros(3 * embed_dim, **of)) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, **of)
        self.register_parameter("bias_k", empty_parameter(1, 1, embed_dim, **of) if add_bias_kv else None)
        self.register_parameter("bias_v", empty_parameter(1, 1, embed_dim, **of) if add_bias_kv else None)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.out_proj.bias is not None:
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        if self._same:
            weights = self.in_proj_weight.chunk(3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        return [F.linear(one, w, b) for one, w, b in zip((query, key, value), weights, biases)]

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        single = query.ndim == 2
        inputs = [query, key, value]
        if single:
            inputs = [one.unsqueeze(0) for one in inputs]
            key_padding_mask = key_padding_mask.unsqueeze(0) if key_padding_mask is not None else None
        elif not self.batch_first:
            inputs = [one.transpose(0, 1) for one in inputs]
        q, k, v = self._project(*inputs)
        batch, length = q.shape[0], q.shape[1]
        k, v, added = self._longer(k, v, batch)
        mask = self._mask(attn_mask, key_padding_mask, q, batch, added)
        heads = [one.reshape(batch, one.shape[1], self.num_heads, self.head_dim).transpose(1, 2) for one in (q, k, v)]
        chance = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            scores = heads[0] @ heads[1].transpose(-2, -1) / self.head_dim**0.5
            scores = scores if mask is None else scores + mask
            weights = scores.softmax(-1)
            weights = F.dropout(weights, chance, True) if chance else weights
            made = weights @ heads[2]
            weights = weights.mean(1) if average_attn_weights else weights
        else:
            made = F.scaled_dot_product_attention(*heads, attn_mask=mask, dropout_p=chance)
        made = self.out_proj(made.transpose(1, 2).reshape(batch, length, self.embed_dim))
        if single:
            return made.squeeze(0), None if weights is None else weights.squeeze(0)
        return made if self.batch_first else made.transpose(0, 1), weights

    def _longer(self, k: Tensor, v: Tensor, batch: int) -> tuple[Tensor, Tensor, int]:
        """Adds the learned key and value, and those of zeros."""
        added = 0
        if self.bias_k is not None:
            k = _cat([k, self.bias_k.expand(batch, 1, -1)], 1)
            v = _cat([v, self.bias_v.expand(batch, 1, -1)], 1)
            added += 1
        if self.add_zero_attn:
            k, v = (_cat([one, zeros(batch, 1, one.shape[2], dtype=one.dtype, device=one.device)], 1) for one in (k, v))
            added += 1
        return k, v, added

    def _mask(self, attn_mask: Tensor | None, padding: Tensor | None, like: Tensor, batch: int, added: int) -> Tensor | None:
        """The sum of both masks, with -inf where attention is not allowed."""
        masks = []
        if attn_mask is not None:
            mask = _additive(attn_mask, like)
            masks.append(mask.reshape(batch, self.num_heads, *mask.shape[-2:]) if mask.ndim == 3 else mask)
        if padding is not None:
            masks.append(_additive(padding, like).reshape(batch, 1, 1, padding.shape[-1]))
        if not masks:
            return None
        total = masks[0] if len(masks) == 1 else masks[0] + masks[1]
        return F.pad(total, (0, added)) if added else total


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    if mask.dtype.kind != "b":
        return mask.to(like.dtype)
    return zeros(mask.shape, dtype=like.dtype, device=like.device).masked_fill(mask, float("-inf"))
