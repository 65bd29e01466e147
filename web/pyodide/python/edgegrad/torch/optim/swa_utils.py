"""torch.optim.swa_utils: averages of models."""

from __future__ import annotations

import copy
from typing import Any, Callable

from .._creation import tensor
from .._modes import no_grad
from ..nn.module import Module


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those it has been updated with."""

    def __init__(self, model: Module, avg_fn: Callable | None = None, use_buffers: bool = False) -> None:
        super().__init__()
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn, self.use_buffers = avg_fn, use_buffers

    def forward(self, *args: Any, **keywords: Any) -> Any:
        return self.module(*args, **keywords)

    def update_parameters(self, model: Module) -> None:
        count = self.n_averaged.item()
        own, given = list(self.module.parameters()), list(model.parameters())
        if self.use_buffers:
            own, given = own + list(self.module.buffers()), given + list(model.buffers())
        with no_grad():
            for average, value in zip(own, given):
                if count == 0:
                    average.copy_(value)
                elif self.avg_fn is not None:
                    average.copy_(self.avg_fn(average, value, count))
                else:
                    average.add_((value - average) / (count + 1))
        self.n_averaged.add_(1)


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """An exponential average."""
    return lambda average, value, count: decay * average + (1 - decay) * value
