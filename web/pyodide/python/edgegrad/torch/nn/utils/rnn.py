"""torch.nn.utils.rnn: sequences of different lengths."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from ..._creation import full, tensor
from ..._tensor import Tensor


class PackedSequence(NamedTuple):
    """Sequences of different lengths in one tensor: step by step the rows of those that are not over, longest first."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **keywords: Any) -> PackedSequence:
        """The same sequences with another dtype or on another device."""
        data = self.data.to(*args, **keywords)
        indices = [one if one is None else one.to(data.device) for one in (self.sorted_indices, self.unsorted_indices)]
        return self if data is self.data else PackedSequence(data, self.batch_sizes, *indices)

    def __getattr__(self, name: str) -> Any:
        # Conversions such as double() are those of the data.
        if name not in _CONVERSIONS:
            raise AttributeError(f"'PackedSequence' object has no attribute '{name}'")
        return lambda: PackedSequence(getattr(self.data, name)(), *self[1:])

    is_cuda = property(lambda self: self.data.is_cuda)


_CONVERSIONS = frozenset("byte char cpu double float half int long short".split())


def pad_sequence(sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """A tensor of sequences, made equally long."""
    from .. import functional as F
    from ..._functions import find

    if not isinstance(sequences, Tensor) and not hasattr(sequences, "__iter__"):
        raise RuntimeError(f"pad_sequence(sequences): expected tensors, got a {type(sequences).__name__}")
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


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences that were padded; with enforce_sorted, the longest comes first."""
    from ..._functions import find

    counts = [int(one) for one in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    steps = input.transpose(0, 1) if batch_first else input
    if not counts:
        raise RuntimeError("lengths: expected at least one sequence, got none")
    if len(counts) != steps.shape[1] or min(counts) <= 0 or max(counts) > steps.shape[0]:
        raise ValueError(f"lengths: expected {steps.shape[1]} numbers from 1 to {steps.shape[0]}, got {counts}")
    order = sorted(range(len(counts)), key=lambda place: -counts[place])
    indices: tuple = (None, None)
    if enforce_sorted:
        if any(a < b for a, b in zip(counts, counts[1:])):
            raise RuntimeError("lengths: expected the longest first; pass enforce_sorted=False for any other order")
    else:
        back = sorted(range(len(order)), key=order.__getitem__)
        indices = (tensor(order, device=input.device), tensor(back, device=input.device))
        steps, counts = steps.index_select(1, indices[0]), [counts[place] for place in order]
    sizes = [sum(count > step for count in counts) for step in range(counts[0])]
    rows = [steps[step, :size] for step, size in enumerate(sizes)]
    return PackedSequence(find("cat")(rows), tensor(sizes), *indices)


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences; with enforce_sorted, the longest comes first."""
    return pack_padded_sequence(pad_sequence(sequences), [one.shape[0] for one in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The sequences, padded, and their lengths."""
    from .. import functional as F
    from ..._functions import find

    sizes = sequence.batch_sizes.tolist()
    if total_length is not None and total_length < len(sizes):
        raise ValueError(f"total_length: expected at least {len(sizes)}, the length of the longest sequence, got {total_length}")
    rows = [
        F.pad(row, [0, 0] * (row.ndim - 1) + [0, sizes[0] - size], value=padding_value)
        for row, size in zip(sequence.data.split(sizes), sizes)
    ]
    for _ in range(len(sizes), total_length or 0):
        rows.append(full(rows[0].shape, padding_value, dtype=rows[0].dtype, device=rows[0].device))
    padded = find("stack")(rows)
    lengths = tensor([sum(size > place for size in sizes) for place in range(sizes[0])])
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded.transpose(0, 1) if batch_first else padded, lengths
