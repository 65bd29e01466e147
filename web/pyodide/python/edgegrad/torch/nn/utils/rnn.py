"""torch.nn.utils.rnn."""

from __future__ import annotations

from typing import Any, Sequence

from ..._tensor import Tensor


class PackedSequence:
    """Sequences of different lengths in one tensor; recurrent layers of Python do not take them."""


def pad_sequence(sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """A tensor of sequences, made equally long."""
    from .. import functional as F
    from ..._functions import find

    longest = max(one.shape[0] for one in sequences)
    padded = []
    for one in sequences:
        missing = longest - one.shape[0]
        sides: list[Any] = [0, 0] * (one.ndim - 1) + ([0, missing] if padding_side == "right" else [missing, 0])
        padded.append(F.pad(one, sides, value=padding_value) if missing else one)
    return find("stack")(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths)]


def pack_padded_sequence(*args: Any, **keywords: Any) -> PackedSequence:
    raise NotImplementedError("pack_padded_sequence(): recurrent layers of Python take padded sequences; mask the loss")


def pad_packed_sequence(*args: Any, **keywords: Any) -> Any:
    raise NotImplementedError("pad_packed_sequence(): recurrent layers of Python take padded sequences")
