"""Names that the package `torch` does not have. Importing them works, and so does decorating with them; a test that uses one is unsupported."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any


class Unsupported(BaseException):
    """Something that edgegrad or the package `torch` does not have. No Exception, so that no test expects or catches it."""


# True while a test runs: only then a missing name is an error, not while files are imported and classes of tests are made.
running = [False]

# Packages whose missing modules are made up.
_PACKAGES = (
    "common_utils",
    "functorch",
    "hypothesis",
    "torch.",
    "torch_xla",
    "torchgen",
    "torchvision",
)


class _MissingType(type):
    def __getattr__(cls, name: str) -> Any:
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        return missing(cls.__qualname__, name)

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        if not cls.__dict__.get("_is_missing"):
            return type.__call__(cls, *args, **keywords)
        if running[0]:
            raise Unsupported(f"missing: {cls.__qualname__}")
        if len(args) == 1 and callable(args[0]) and not keywords:
            return args[0]
        return missing(cls.__qualname__, "call")

    def __enter__(cls) -> Any:
        if running[0]:
            raise Unsupported(f"missing: {cls.__qualname__}")
        return cls

    def __exit__(cls, *_: Any) -> bool:
        return False

    def __or__(cls, other: Any) -> Any:
        return cls

    __ror__ = __or__

    def __iter__(cls) -> Any:
        return iter(())

    def __bool__(cls) -> bool:
        """False for flags and for what calls of missing functions return, true for functions of torch itself."""
        return cls.__qualname__.count(".") == 1

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __setitem__(cls, item: Any, value: Any) -> None:
        pass

    def __lt__(cls, other: Any) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__

    def __instancecheck__(cls, value: Any) -> bool:
        return type.__instancecheck__(cls, value)


class Missing(metaclass=_MissingType):
    """Base of the classes that stand for missing names: callable, falsy, empty, and usable as a decorator or base class."""

    def __init__(self, *_: Any, **__: Any) -> None:
        if running[0]:
            raise Unsupported(f"missing: {type(self).__qualname__}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return missing(type(self).__qualname__, name)


def missing(owner: str, name: str) -> Any:
    """Returns what stands for a missing name."""
    full = f"{owner}.{name}"
    if running[0] and owner == "torch":
        raise Unsupported(f"missing: {full}")
    return _MissingType(name, (Missing,), {"_is_missing": True, "__qualname__": full})


class MissingModule(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        found = sys.modules.get(full)
        return missing(self.__name__, name) if found is None else found


def module(name: str, **given: Any) -> types.ModuleType:
    """Returns a module that has every name, with some of them given."""
    if name not in sys.modules:
        made = MissingModule(name)
        made.__path__ = []
        made.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        sys.modules[name] = made
    sys.modules[name].__dict__.update(given)
    return sys.modules[name]


def otherwise_missing(path: str) -> Any:
    """Returns a module's `__getattr__`, for the names that it does not define."""

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return missing(path, name)

    return find


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.startswith(_PACKAGES):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        return module(spec.name)

    def exec_module(self, module: Any) -> None:
        pass


sys.meta_path.append(_Finder())
