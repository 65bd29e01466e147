"""torch.save and torch.load, with edgegrad's own reader and writer of these files. Tuples come back as they come from JavaScript."""

from __future__ import annotations

from typing import Any

from ._bridge import Unsupported, call_later
from stubs import otherwise_missing
from ._tensor import Tensor


def _check(value: Any) -> None:
    if isinstance(value, dict):
        for one in value.values():
            _check(one)
    elif isinstance(value, (list, tuple, set)):
        for one in value:
            _check(one)
    elif not isinstance(value, (Tensor, int, float, complex, str, bytes, type(None))):
        raise Unsupported(f"n/a: pickle of {type(value).__name__}")


def save(obj: Any, f: Any, *_: Any, **__: Any) -> None:
    _check(obj)
    made = bytes(call_later("io", "saveTorch", [obj]))
    if hasattr(f, "write"):
        f.write(made)
        return
    with open(f, "wb") as file:
        file.write(made)


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: Any = None, mmap: Any = None) -> Any:
    if hasattr(f, "read"):
        return call_later("io", "loadTorch", [f.read()])
    with open(f, "rb") as file:
        return call_later("io", "loadTorch", [file.read()])


__getattr__ = otherwise_missing("torch.serialization")
