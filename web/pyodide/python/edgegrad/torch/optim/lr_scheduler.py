"""torch.optim.lr_scheduler: the schedulers of edgegrad, and the base of those that are written in Python."""

from __future__ import annotations

import types
import warnings
from typing import Any

from .._bridge import Foreign
from .._calls import construct, method, names_of, read
from .._tensor import Tensor
from .optimizer import Optimizer


EPOCH_DEPRECATION_WARNING = "scheduler.step(epoch) is deprecated: call step() without an epoch, once for each"
# JavaScript's names of attributes whose names are not those of its own in Python's spelling.
_SPELLED = {"_last_lr": "lastLr", "_step_count": "stepCount", "_anneal_func_type": "annealStrategy", "_schedulers": "schedulers"}
# Those whose step() takes something else than an epoch, or an epoch that PyTorch has not deprecated.
_WITH_EPOCHS = ("ReduceLROnPlateau", "CosineAnnealingWarmRestarts")


class LRScheduler(Foreign):
    """The base of the schedulers. A class in Python defines get_lr(), which returns the rates of the groups for `self.last_epoch`."""

    # What a copy is made with; no attribute of the kind that vars() shows.
    __slots__ = ("_given",)
    _path = "optim.lrScheduler"
    _class: str | None = None

    def __init__(self, optimizer: Any, *args: Any, verbose: Any = "deprecated", **options: Any) -> None:
        if verbose != "deprecated":
            warnings.warn("verbose is deprecated: print scheduler.get_last_lr()", UserWarning, stacklevel=2)
        self.optimizer = optimizer
        if self._class is None:
            self._start(args[0] if args else options.get("last_epoch", -1))
            return
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self._make([optimizer, *args], {key: value for key, value in options.items() if value is not None})

    def _make(self, args: list, options: dict) -> None:
        self._given = (args, options)
        self.h = construct(self._path, self._class, [_plain(one) for one in args], {key: _plain(value) for key, value in options.items()})

    def _start(self, last_epoch: int) -> None:
        """The first step of a scheduler that is written in Python."""
        for place, group in enumerate(self.optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(f"param 'initial_lr' is not specified in param_groups[{place}] when resuming an optimizer")
        self.base_lrs = [group["initial_lr"] for group in self.optimizer.param_groups]
        self.last_epoch, self._step_count = last_epoch, 0
        self.step()

    def get_lr(self) -> Any:
        raise NotImplementedError("a scheduler that is written in Python defines get_lr()")

    def step(self, *args: Any, **options: Any) -> None:
        given = [_plain(one) for one in (*args, *options.values()) if one is not None]
        if given and (self._class not in _WITH_EPOCHS or len(given) > 1):
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        if self._class is not None:
            method(self, "step", given)
            return
        self._step_count += 1
        self.last_epoch = given[0] if given else self.last_epoch + 1
        closed = getattr(type(self), "_get_closed_form_lr", None) if given else None
        groups = self.optimizer.param_groups
        for group, rate in zip(groups, self.get_lr() if closed is None else closed(self)):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        self._last_lr = [group["lr"] for group in groups]

    def get_last_lr(self) -> list[float]:
        return list(method(self, "getLastLr")) if self._class is not None else self._last_lr

    def _functions(self) -> dict[str, Any]:
        """The functions and objects that compute factors, by their names in the state."""
        if self._class is None or not hasattr(self, "_given"):
            return {}
        (optimizer, *args), options = self._given
        if self._class in ("LambdaLR", "MultiplicativeLR"):
            given = options.get("lr_lambda", args[0] if args else None)
            return {"lr_lambdas": list(given) if isinstance(given, (list, tuple)) else [given] * len(optimizer.param_groups)}
        return {"_scale_fn_custom": options.get("scale_fn")} if self._class == "CyclicLR" else {}

    def state_dict(self) -> dict:
        """The settings and the position; of an object that computes factors its attributes, of a function nothing."""
        if self._class is None:
            return {key: value for key, value in self.__dict__.items() if key != "optimizer"}
        saved = {name: list(map(_saved, one)) if isinstance(one, list) else _saved(one) for name, one in self._functions().items()}
        return {**method(self, "stateDict"), **saved}

    def load_state_dict(self, state_dict: dict) -> None:
        if self._class is None:
            self.__dict__.update(state_dict)
            return
        given = dict(state_dict)
        for name, own in self._functions().items():
            found = given.pop(name, None)
            for one, attributes in zip(own, found or ()) if isinstance(own, list) else [(own, found)]:
                if attributes is not None:
                    one.__dict__.update(attributes)
        method(self, "loadStateDict", [given])

    def __getattr__(self, name: str) -> Any:
        if name in _SPELLED and self._class is not None:
            return read(self, _SPELLED[name])
        return Foreign.__getattr__(self, name)

    def __reduce_ex__(self, protocol: Any) -> tuple:
        if self._class is None:
            return object.__reduce_ex__(self, protocol)
        return (_again, (type(self), *self._given, self.state_dict()))


def _again(cls: type, args: list, options: dict, state: dict) -> LRScheduler:
    """A scheduler as it was, for the copy of an optimizer: making one changes the settings of the groups, which are restored."""
    made = object.__new__(cls)
    made.optimizer = args[0] if isinstance(args[0], Optimizer) else args[0][0].optimizer
    groups = made.optimizer.param_groups
    settings = [{key: value for key, value in group.items() if key != "params"} for group in groups]
    made._make(args, options)
    made.load_state_dict(state)
    for group, own in zip(groups, settings):
        group.update(own)
    return made


def _saved(function: Any) -> dict | None:
    is_function = function is None or isinstance(function, (types.FunctionType, types.BuiltinFunctionType))
    return None if is_function else dict(function.__dict__)


_LRScheduler = LRScheduler


class ChainedScheduler(LRScheduler):
    """As torch.optim.lr_scheduler.ChainedScheduler."""

    _class = "ChainedScheduler"

    def __init__(self, schedulers: Any, optimizer: Any = None) -> None:
        self._schedulers = list(schedulers)
        if not self._schedulers:
            raise ValueError("ChainedScheduler: expected at least one scheduler")
        self.optimizer = optimizer or self._schedulers[0].optimizer
        self._make([self._schedulers], {})


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else list(value) if isinstance(value, tuple) else value


def __getattr__(name: str) -> Any:
    if name[:1].isupper() and name in names_of("optim.lrScheduler"):
        made = type(name, (LRScheduler,), {"_class": name, "__doc__": f"As torch.optim.lr_scheduler.{name}.", "__module__": __name__})
        globals()[name] = made
        return made
    raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")
