"""torch.optim.lr_scheduler: the schedulers of edgegrad."""

from __future__ import annotations

from typing import Any

from .._bridge import Foreign
from .._calls import camel, construct, method, names_of, snake
from .._tensor import Tensor


class LRScheduler(Foreign):
    """The base of the schedulers."""

    _path = "optim.lrScheduler"
    _class: str | None = None

    def __init__(self, optimizer: Any, *args: Any, verbose: Any = None, **options: Any) -> None:
        if self._class is None:
            raise NotImplementedError("schedulers that are written in Python: use LambdaLR")
        self.optimizer = optimizer
        given = [_plain(one) for one in args]
        named = {key: _plain(value) for key, value in options.items() if value is not None}
        self.h = construct(self._path, self._class, [optimizer, *given], named)

    def step(self, *args: Any) -> None:
        method(self, "step", [one.item() if isinstance(one, Tensor) else one for one in args if one is not None])

    def get_last_lr(self) -> list[float]:
        return list(method(self, "getLastLr"))

    def state_dict(self) -> dict:
        return {snake(key): value for key, value in method(self, "stateDict").items()}

    def load_state_dict(self, state_dict: dict) -> None:
        method(self, "loadStateDict", [{camel(key): value for key, value in state_dict.items()}])


_LRScheduler = LRScheduler


class ChainedScheduler(LRScheduler):
    """As torch.optim.lr_scheduler.ChainedScheduler."""

    _class = "ChainedScheduler"

    def __init__(self, schedulers: Any, optimizer: Any = None) -> None:
        self.optimizer, self._schedulers = optimizer or schedulers[0].optimizer, list(schedulers)
        self.h = construct("optim.lrScheduler", "ChainedScheduler", [self._schedulers])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else list(value) if isinstance(value, tuple) else value


def __getattr__(name: str) -> Any:
    if name[:1].isupper() and name in names_of("optim.lrScheduler"):
        made = type(name, (LRScheduler,), {"_class": name, "__doc__": f"As torch.optim.lr_scheduler.{name}.", "__module__": __name__})
        globals()[name] = made
        return made
    raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")
