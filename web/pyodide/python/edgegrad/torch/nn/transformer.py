"""Transformers."""

from __future__ import annotations

import copy
from typing import Any, Callable

from .._creation import full
from .._tensor import Tensor
from . import functional as F, init
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm


def _activation(given: Any) -> Callable:
    if callable(given):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return getattr(F, given)


class _Layer(Module):
    """What encoder and decoder layers share: the feed-forward part and the way in which parts are added."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        of: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **of)
        if self.has_memory:
            self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **of)
        self.linear1 = Linear(d_model, dim_feedforward, **of)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **of)
        self.norm_first = norm_first
        for place in range(1, 4 if self.has_memory else 3):
            setattr(self, f"norm{place}", LayerNorm(d_model, eps=layer_norm_eps, **of))
        for place in range(1, 4 if self.has_memory else 3):
            setattr(self, f"dropout{place}", Dropout(dropout))
        self.activation = _activation(activation)

    has_memory = False

    def _part(self, x: Tensor, place: int, compute: Callable[[Tensor], Tensor]) -> Tensor:
        norm, dropout = getattr(self, f"norm{place}"), getattr(self, f"dropout{place}")
        return x + dropout(compute(norm(x))) if self.norm_first else norm(x + dropout(compute(x)))

    def _feed(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """As torch.nn.TransformerEncoderLayer."""

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool = False
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)[0]

        return self._part(self._part(src, 1, attend), 2, self._feed)


class TransformerDecoderLayer(_Layer):
    """As torch.nn.TransformerDecoderLayer."""

    has_memory = True

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        def attend(x: Tensor) -> Tensor:
            return self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)[0]

        def recall(x: Tensor) -> Tensor:
            return self.multihead_attn(x, memory, memory, memory_key_padding_mask, False, memory_mask, is_causal=memory_is_causal)[0]

        return self._part(self._part(self._part(tgt, 1, attend), 2, recall), 3, self._feed)


class _Stack(Module):
    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _through(self, x: Tensor, *rest: Any, **keywords: Any) -> Tensor:
        for layer in self.layers:
            x = layer(x, *rest, **keywords)
        return x if self.norm is None else self.norm(x)


class TransformerEncoder(_Stack):
    """As torch.nn.TransformerEncoder."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None, is_causal: bool | None = None
    ) -> Tensor:
        return self._through(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask, is_causal=bool(is_causal))


class TransformerDecoder(_Stack):
    """As torch.nn.TransformerDecoder."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None, **keywords: Any
    ) -> Tensor:
        given = {key: value for key, value in keywords.items() if value is not None}
        return self._through(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, **given)


class Transformer(Module):
    """As torch.nn.Transformer."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        of: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        given = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*given, **of), num_encoder_layers, LayerNorm(d_model, eps=layer_norm_eps, **of)
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*given, **of), num_decoder_layers, LayerNorm(d_model, eps=layer_norm_eps, **of)
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        for weight in self.parameters():
            if weight.dim() > 1:
                init.xavier_uniform_(weight)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=bool(tgt_is_causal),
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        return full((sz, sz), float("-inf"), device=device, dtype=dtype).triu(1)
