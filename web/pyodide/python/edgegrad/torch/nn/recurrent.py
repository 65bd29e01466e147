"""Recurrent layers."""

from __future__ import annotations

import math
from typing import Any, Iterator

from .._creation import zeros
from .._functions import find
from .._tensor import Tensor
from . import functional as F, init
from .linear import empty_parameter
from .module import Module
from .utils.rnn import PackedSequence

_stack, _cat = find("stack"), find("cat")
_GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}


def _lstm(inputs: Tensor, hidden: tuple[Tensor, Tensor], recurrent: Tensor) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: `inputs` and `recurrent` are the four gates' parts."""
    i, f, g, o = (inputs + recurrent).chunk(4, -1)
    cell = f.sigmoid() * hidden[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru(inputs: Tensor, hidden: Tensor, recurrent: Tensor) -> Tensor:
    """One step of a GRU."""
    r, z, n = inputs.chunk(3, -1)
    hr, hz, hn = recurrent.chunk(3, -1)
    reset, update = (r + hr).sigmoid(), (z + hz).sigmoid()
    new = (n + reset * hn).tanh()
    return new + update * (hidden - new)


class RNNBase(Module):
    """The base of RNN, LSTM and GRU."""

    mode = "RNN"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
        nonlinearity: str = "tanh",
    ) -> None:
        super().__init__()
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError("hidden_size and num_layers must be greater than zero")
        if proj_size and self.mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        self.input_size, self.hidden_size, self.num_layers, self.bias = input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = batch_first, dropout, bidirectional, proj_size
        self.nonlinearity = nonlinearity
        rows, out = _GATES[self.mode] * hidden_size, proj_size or hidden_size
        of = {"device": device, "dtype": dtype}
        for place in range(num_layers):
            columns = input_size if place == 0 else out * self.directions
            for suffix in self._suffixes(place):
                setattr(self, f"weight_ih_{suffix}", empty_parameter(rows, columns, **of))
                setattr(self, f"weight_hh_{suffix}", empty_parameter(rows, out, **of))
                if bias:
                    setattr(self, f"bias_ih_{suffix}", empty_parameter(rows, **of))
                    setattr(self, f"bias_hh_{suffix}", empty_parameter(rows, **of))
                if proj_size:
                    setattr(self, f"weight_hr_{suffix}", empty_parameter(proj_size, hidden_size, **of))
        self.reset_parameters()

    directions = property(lambda self: 2 if self.bidirectional else 1)

    def _suffixes(self, place: int) -> Iterator[str]:
        yield f"l{place}"
        if self.bidirectional:
            yield f"l{place}_reverse"

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """For CUDA in PyTorch; there is nothing to flatten here."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}")
        single = input.ndim == 2
        steps = input.unsqueeze(1) if single else input.transpose(0, 1) if self.batch_first else input
        outputs, last = self._layers(steps, self._states(steps, steps.shape[1], hx, single), None)
        if single:
            outputs, last = outputs.squeeze(1), [one.squeeze(1) for one in last]
        elif self.batch_first:
            outputs = outputs.transpose(0, 1)
        return outputs, tuple(last) if self.mode == "LSTM" else last[0]

    def _packed(self, input: PackedSequence, hx: Any) -> Any:
        sizes = input.batch_sizes.tolist()
        states = self._states(input.data, sizes[0], hx, False)
        if hx is not None and input.sorted_indices is not None:
            states = [one.index_select(1, input.sorted_indices) for one in states]
        outputs, last = self._layers(input.data, states, sizes)
        if input.unsorted_indices is not None:
            last = [one.index_select(1, input.unsorted_indices) for one in last]
        return input._replace(data=outputs), tuple(last) if self.mode == "LSTM" else last[0]

    def _states(self, like: Tensor, batch: int, given: Any, single: bool) -> list[Tensor]:
        count = self.num_layers * self.directions
        sizes = [self.proj_size or self.hidden_size, self.hidden_size][: 2 if self.mode == "LSTM" else 1]
        if given is None:
            return [zeros(count, batch, size, dtype=like.dtype, device=like.device) for size in sizes]
        states = list(given) if self.mode == "LSTM" else [given]
        return [one.unsqueeze(1) for one in states] if single else states

    def _layers(self, value: Tensor, states: list[Tensor], sizes: list[int] | None) -> tuple[Tensor, list[Tensor]]:
        """Runs all layers; `sizes` are the rows of every step of a packed sequence."""
        ends: list[list[Tensor]] = [[] for _ in states]
        for place in range(self.num_layers):
            if place and self.dropout:
                value = F.dropout(value, self.dropout, self.training)
            made = []
            for direction, suffix in enumerate(self._suffixes(place)):
                index = place * self.directions + direction
                initial = [one[index] for one in states]
                outputs, last = self._direction(value, initial, suffix, direction == 1, sizes)
                made.append(outputs)
                for end, one in zip(ends, last):
                    end.append(one)
            value = made[0] if len(made) == 1 else _cat(made, -1)
        return value, [_stack(end) for end in ends]

    def _direction(
        self, value: Tensor, initial: list[Tensor], suffix: str, backwards: bool, sizes: list[int] | None
    ) -> tuple[Tensor, list[Tensor]]:
        members = self._parameters
        # The input's part of the gates needs no state, so it is computed for all steps at once.
        gates = F.linear(value, members[f"weight_ih_{suffix}"], members.get(f"bias_ih_{suffix}"))
        inputs = gates.unbind(0) if sizes is None else gates.split(sizes)
        weight, bias = members[f"weight_hh_{suffix}"], members.get(f"bias_hh_{suffix}")
        projection = members.get(f"weight_hr_{suffix}")
        outputs = []
        # The states of sequences that are over.
        ended: list[list[Tensor]] = []
        state = initial if sizes is None else [one[: inputs[-1 if backwards else 0].shape[0]] for one in initial]
        for step in reversed(inputs) if backwards else inputs:
            rows, before = step.shape[0], state[0].shape[0]
            if rows < before:
                ended.append([one[rows:] for one in state])
                state = [one[:rows] for one in state]
            elif rows > before:
                state = [_cat([one, first[before:rows]]) for one, first in zip(state, initial)]
            state = self._step(step, state, F.linear(state[0], weight, bias))
            if projection is not None:
                state = [F.linear(state[0], projection), *state[1:]]
            outputs.append(state[0])
        if backwards:
            outputs.reverse()
        for rest in reversed(ended):
            state = [_cat([one, more]) for one, more in zip(state, rest)]
        return _stack(outputs) if sizes is None else _cat(outputs), state

    def _step(self, inputs: Tensor, state: list[Tensor], recurrent: Tensor) -> list[Tensor]:
        if self.mode == "LSTM":
            return list(_lstm(inputs, (state[0], state[1]), recurrent))
        if self.mode == "GRU":
            return [_gru(inputs, state[0], recurrent)]
        total = inputs + recurrent
        return [total.tanh() if self.nonlinearity == "tanh" else total.relu()]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        for name, usual in (("bias", True), ("batch_first", False), ("dropout", 0.0), ("bidirectional", False)):
            if getattr(self, name) != usual:
                text += f", {name}={getattr(self, name)}"
        return text


class RNN(RNNBase):
    """As torch.nn.RNN."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", *args: Any, **keywords: Any
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(input_size, hidden_size, num_layers, *args, nonlinearity=nonlinearity, **keywords)


class LSTM(RNNBase):
    """As torch.nn.LSTM."""

    mode = "LSTM"


class GRU(RNNBase):
    """As torch.nn.GRU."""

    mode = "GRU"


class _Cell(Module):
    gates = 1

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows, of = self.gates * hidden_size, {"device": device, "dtype": dtype}
        self.weight_ih = empty_parameter(rows, input_size, **of)
        self.weight_hh = empty_parameter(rows, hidden_size, **of)
        self.register_parameter("bias_ih", empty_parameter(rows, **of) if bias else None)
        self.register_parameter("bias_hh", empty_parameter(rows, **of) if bias else None)
        bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _state(self, input: Tensor, given: Tensor | None) -> Tensor:
        shape = (*input.shape[:-1], self.hidden_size)
        return zeros(shape, dtype=input.dtype, device=input.device) if given is None else given

    def _parts(self, input: Tensor, hidden: Tensor) -> tuple[Tensor, Tensor]:
        return F.linear(input, self.weight_ih, self.bias_ih), F.linear(hidden, self.weight_hh, self.bias_hh)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(_Cell):
    """As torch.nn.RNNCell."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", **keywords: Any) -> None:
        super().__init__(input_size, hidden_size, bias, **keywords)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        inputs, recurrent = self._parts(input, self._state(input, hx))
        return (inputs + recurrent).tanh() if self.nonlinearity == "tanh" else (inputs + recurrent).relu()


class LSTMCell(_Cell):
    """As torch.nn.LSTMCell."""

    gates = 4

    def forward(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Tensor]:
        hidden, cell = (self._state(input, one) for one in ((None, None) if hx is None else hx))
        inputs, recurrent = self._parts(input, hidden)
        return _lstm(inputs, (hidden, cell), recurrent)


class GRUCell(_Cell):
    """As torch.nn.GRUCell."""

    gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        hidden = self._state(input, hx)
        inputs, recurrent = self._parts(input, hidden)
        return _gru(inputs, hidden, recurrent)
