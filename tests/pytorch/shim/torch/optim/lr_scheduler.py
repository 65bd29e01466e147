"""Schedulers of the learning rate, which are edgegrad's."""

from __future__ import annotations

from typing import Any

from .. import _bridge as bridge
from .._bridge import Unsupported, channel, encode, method, snake
from stubs import missing
from .optimizer import as_number


class LRScheduler(bridge.JSObject):
    """Base of the schedulers."""

    _path: str | None = None

    def __init__(self, *args: Any, verbose: Any = None, **keywords: Any) -> None:
        if type(self)._path is None:
            raise Unsupported("shim: schedulers defined in Python")
        given = [list(one) if isinstance(one, tuple) else as_number(one) for one in args]
        options = {key: as_number(value) for key, value in keywords.items() if value is not None}
        if "optimizer" in options and not given:
            given = [options.pop("optimizer")]
        if "schedulers" in options and not given:
            given = [options.pop("schedulers")]
        bridge.adopt(self, bridge.construct(type(self)._path, given, options))
        self.optimizer = args[0] if args else keywords.get("optimizer")

    def step(self, *args: Any) -> Any:
        return method(self, "step", [one for one in args if one is not None])

    def get_last_lr(self) -> list:
        return list(method(self, "getLastLr"))

    def state_dict(self) -> Any:
        return method(self, "stateDict")

    def load_state_dict(self, state_dict: Any) -> None:
        channel.request({"t": "call", "o": self._id, "n": "loadStateDict", "a": [encode(state_dict)]})

    @property
    def __dict__(self) -> dict:
        """What PyTorch's schedulers have as attributes: without the optimizer."""
        return {snake(key): value for key, value in self.state_dict().items()}

    def __hash__(self) -> int:
        return id(self)


_LRScheduler = LRScheduler


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name[:1].isupper() and name in bridge.names["spaces"]["optim.lrScheduler"]:
        made = globals()[name] = type(name, (LRScheduler,), {"_path": f"optim.lrScheduler.{name}"})
        return made
    return missing("torch.optim.lr_scheduler", name)
