"""torch.optim.swa_utils: averages of models."""

from __future__ import annotations

import copy
from typing import Any, Callable, Iterable

from .._creation import tensor
from .._modes import no_grad
from .._tensor import Tensor
from ..nn.module import Module
from ..nn.normalization import _BatchNorm
from .lr_scheduler import LRScheduler


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those it has been updated with."""

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable | None = None,
        multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("AveragedModel(): only one of avg_fn and multi_avg_fn can be given")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **keywords: Any) -> Any:
        return self.module(*args, **keywords)

    def update_parameters(self, model: Module) -> None:
        count = self.n_averaged.item()
        own, given = list(self.module.parameters()), list(model.parameters())
        if self.use_buffers:
            own, given = own + list(self.module.buffers()), given + list(model.buffers())
        with no_grad():
            if count > 0 and self.multi_avg_fn is not None:
                self.multi_avg_fn(own, given, self.n_averaged)
            else:
                average_of = self.avg_fn or get_swa_avg_fn()
                for average, value in zip(own, given):
                    average.copy_(value if count == 0 else average_of(average, value, self.n_averaged))
        if not self.use_buffers:
            for average, value in zip(self.module.buffers(), model.buffers()):
                average.detach().copy_(value.detach())
        self.n_averaged.add_(1)


class SWALR(LRScheduler):
    """Moves the learning rate to a value at which weights are averaged."""

    _path, _class = "optim.swaUtils", "SWALR"


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """An exponential average, of one tensor."""
    _check_decay(decay)
    return lambda average, value, count: decay * average + (1 - decay) * value


def get_swa_avg_fn() -> Callable:
    """The mean of all, of one tensor."""
    return lambda average, value, count: average + (value - average) / (count + 1)


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """An exponential average, of all tensors."""
    return _of_all(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable:
    """The mean of all, of all tensors."""
    return _of_all(get_swa_avg_fn())


def _check_decay(decay: float) -> None:
    if not 0 <= decay <= 1:
        raise ValueError(f"decay: expected a number from 0 to 1, got {decay}")


def _of_all(average_of: Callable) -> Callable:
    def update(averages: list[Tensor], values: list[Tensor], count: Tensor) -> None:
        for average, value in zip(averages, values):
            if average.is_floating_point():
                average.copy_(average_of(average, value, count))
            else:
                average.copy_(value)

    return update


def update_bn(loader: Iterable, model: Module, device: Any = None) -> None:
    """Computes the running statistics of batch normalization anew, from all batches of `loader`."""
    layers = [one for one in model.modules() if isinstance(one, _BatchNorm)]
    if not layers:
        return
    momenta = [one.momentum for one in layers]
    was_training = model.training
    model.train()
    for one in layers:
        one.reset_running_stats()
        one.momentum = None
    for batch in loader:
        first = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(first if device is None else first.to(device))
    for one, momentum in zip(layers, momenta):
        one.momentum = momentum
    model.train(was_training)
