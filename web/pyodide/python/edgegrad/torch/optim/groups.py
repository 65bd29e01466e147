"""What an optimizer has of each group of parameters, and of each parameter."""

from __future__ import annotations

import copy
from collections.abc import MutableMapping
from typing import Any, Iterator

from .._bridge import Foreign, js, result
from .._calls import camel, encode, snake
from .._tensor import Tensor

# Settings that choose an implementation in PyTorch, and change nothing in the results.
IMPLEMENTATIONS = ("foreach", "fused", "capturable", "differentiable")
# Settings that are lists; JavaScript's other arrays are tuples.
_LISTS = ("param_names",)


class Group(MutableMapping):
    """One of an optimizer's groups: settings are JavaScript's, so a change has its effect there; the parameters are Python's."""

    def __init__(self, handle: Foreign, params: list[Tensor], shown: list[bool], given: dict) -> None:
        self._group, self.params, self._shown = handle, params, shown
        # Settings that JavaScript does not have.
        self._more: dict[str, Any] = {}
        # Those that are tensors, with the numbers that JavaScript has for them.
        self.tensors: dict[str, tuple[Tensor, float]] = {}
        for key, value in given.items():
            if isinstance(value, Tensor) or key in IMPLEMENTATIONS or key not in self._keys():
                self[key] = value

    def __getitem__(self, key: str) -> Any:
        if key == "params":
            # A program may change the list.
            if not self._shown:
                self._shown.append(True)
            return self.params
        if key in self._more:
            return self._more[key]
        if key not in self._keys():
            raise KeyError(key)
        found = result(js.get(self._group.h, camel(key)))
        if key in self.tensors:
            tensor, number = self.tensors[key]
            if found != number:
                # A scheduler has changed the number.
                self.tensors[key] = (tensor.fill_(found), found)
            return tensor
        return tuple(found) if isinstance(found, list) and key not in _LISTS else found

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "params":
            self.params[:] = value
            return
        if key not in self._keys() and key != "initial_lr":
            self._more[key] = value
            return
        self.tensors.pop(key, None)
        if isinstance(value, Tensor):
            number = value.item()
            self.tensors[key] = (value, number)
            value = number
        signature: list[str] = []
        flat: list = []
        encode(value, signature, flat)
        js.set(self._group.h, camel(key), "".join(signature), *flat)

    def __delitem__(self, key: str) -> None:
        if key in self._more:
            del self._more[key]
        elif key in self._keys():
            js.unset(self._group.h, camel(key))
        else:
            raise KeyError(key)

    def settings(self) -> dict:
        """A dictionary of the settings, which belongs to no optimizer."""
        return {key: self[key] for key in self if key != "params"}

    def write_tensors(self) -> None:
        """Gives JavaScript the numbers that are in tensors now, unless a scheduler has changed the number since."""
        for key, (tensor, number) in list(self.tensors.items()):
            if result(js.get(self._group.h, camel(key))) == number:
                self[key] = tensor

    def _keys(self) -> list[str]:
        return [snake(key) for key in js.keys(self._group.h).split(",") if key != "params"]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(["params", *self._keys(), *self._more]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return repr(dict(self))

    def __deepcopy__(self, memo: dict) -> dict:
        """A dictionary with copies of the settings, which belongs to no optimizer."""
        return copy.deepcopy(dict(self), memo)


class State(MutableMapping):
    """What an optimizer keeps for its parameters, by parameter: JavaScript has it. Other keys are Python's alone."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner

    def _params(self) -> list[Tensor]:
        return [param for group in self._owner.param_groups for param in group.params]

    def _read(self) -> dict:
        found = self._owner._read_state()
        return {param: Kept(self, param, found[place]) for place, param in enumerate(self._params()) if place in found}

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, Tensor):
            return self._owner._extra[key]
        found = self._read().get(key)
        return Kept(self, key, {}) if found is None else found

    def __contains__(self, key: Any) -> bool:
        # As in a defaultdict, what can be asked for need not be there.
        return key in self._read() if isinstance(key, Tensor) else key in self._owner._extra

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Tensor):
            self._write({**self._read(), key: value})
        else:
            self._owner._extra[key] = value

    def __delitem__(self, key: Any) -> None:
        if isinstance(key, Tensor):
            self._write({param: own for param, own in self._read().items() if param is not key})
        else:
            del self._owner._extra[key]

    def _write(self, state: dict) -> None:
        places = {param: place for place, param in enumerate(self._params())}
        self._owner._write_state({places[param]: dict(own) for param, own in state.items()})

    def __iter__(self) -> Iterator:
        return iter([*self._read(), *self._owner._extra])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return repr(dict(self))


class Kept(dict):
    """What an optimizer keeps for a parameter; what is assigned goes to JavaScript."""

    def __init__(self, state: State, param: Tensor, found: dict) -> None:
        dict.__init__(self, found)
        self._state, self._param = state, param

    def __setitem__(self, key: str, value: Any) -> None:
        dict.__setitem__(self, key, value)
        self._state[self._param] = self

    def __delitem__(self, key: str) -> None:
        dict.__delitem__(self, key)
        self._state[self._param] = self

    def __reduce_ex__(self, protocol: Any) -> tuple:
        """A copy is a dictionary that belongs to no optimizer."""
        return (dict, (dict(self),))
