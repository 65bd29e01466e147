"""Containers of modules and parameters."""

from __future__ import annotations

import operator
from collections import OrderedDict
from typing import Any, Iterable, Iterator

from .._parameter import Parameter
from .._tensor import Tensor
from .module import Module


def _at(index: int, count: int) -> int:
    place = operator.index(index)
    if not -count <= place < count:
        raise IndexError(f"index {place} is out of range")
    return place % count


class Sequential(Module):
    """Modules that are called one after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for place, module in enumerate(args):
                self.add_module(str(place), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    def _key(self, index: int) -> str:
        return list(self._modules)[_at(index, len(self))]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: Any) -> None:
        keys = list(self._modules)[index]
        for key in keys if isinstance(index, slice) else [keys]:
            del self._modules[key]
        self._number(list(self._modules.values()))

    def _number(self, modules: list) -> None:
        self.__dict__["_modules"] = OrderedDict((str(i), one) for i, one in enumerate(modules))

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __add__(self, other: Sequential) -> Sequential:
        return Sequential(*self, *other)

    def append(self, module: Module) -> Sequential:
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Sequential:
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Sequential:
        modules = list(self)
        modules.insert(index, module)
        self._number(modules)
        return self

    def pop(self, key: Any) -> Module:
        found = self[key]
        del self[key]
        return found


class ModuleList(Sequential):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        Module.__init__(self)
        self.extend(modules or ())

    def forward(self, *inputs: Any) -> Any:
        return Module.forward(self)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:  # type: ignore[override]
        return ModuleList([*self, *other])

    __iadd__ = Sequential.extend


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        self.update(modules or {})

    def update(self, modules: Any) -> None:
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self[name] = module

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def keys(self) -> Any:
        return self._modules.keys()

    def values(self) -> Any:
        return self._modules.values()

    def items(self) -> Any:
        return self._modules.items()

    def pop(self, name: str) -> Module:
        return self._modules.pop(name)

    def clear(self) -> None:
        self._modules.clear()


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        for value in values or ():
            self.append(value)

    def append(self, value: Any) -> ParameterList:
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        for value in values:
            self.append(value)
        return self

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(len(self))[index]])
        return getattr(self, str(_at(index, len(self))))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(_at(index, len(self))), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


class ParameterDict(Module):
    """Parameters by name."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        self.update(parameters or {})

    def update(self, parameters: Any) -> None:
        for name, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[name] = value

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._keys[name] = None
        setattr(self, name, _as_parameter(value))

    def __delitem__(self, name: str) -> None:
        del self._keys[name]
        delattr(self, name)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def keys(self) -> Any:
        return self._keys.keys()

    def values(self) -> Any:
        return [self[name] for name in self._keys]

    def items(self) -> Any:
        return [(name, self[name]) for name in self._keys]
