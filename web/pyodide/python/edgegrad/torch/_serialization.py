"""torch.save and torch.load: PyTorch's files, a zip archive with a pickle and the elements of every tensor."""

from __future__ import annotations

import array
import io
import pickle
import struct
import zipfile
from collections import OrderedDict
from typing import Any

from ._creation import from_elements
from ._parameter import Buffer, Parameter
from ._reading import elements
from ._tensor import Tensor
from ._types import ALIASES, Size, bfloat16, device as _device, dtype, float16

_STORAGES = {
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "int8": "CharStorage",
    "int16": "ShortStorage",
    "int32": "IntStorage",
    "int64": "LongStorage",
    "uint8": "ByteStorage",
    "bool": "BoolStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
}
_OF_STORAGE = {name: kind for kind, name in _STORAGES.items()}


class _Global:
    """A name of PyTorch in a pickle, which need not be there."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class _Storage:
    """The elements of a tensor that is being saved."""

    def __init__(self, kind: str, key: str, count: int) -> None:
        self.kind, self.key, self.count = kind, key, count


class _Pickler(pickle._Pickler):  # type: ignore[name-defined,misc]
    """Writes tensors as PyTorch does."""

    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def __init__(self, file: Any, raw: dict[str, bytes]) -> None:
        pickle._Pickler.__init__(self, file, 2)  # type: ignore[attr-defined]
        self.raw = raw

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, _Storage):
            return ("storage", _Global("torch", _STORAGES[value.kind]), value.key, "cpu", value.count)
        return None

    def save_global_name(self, value: _Global) -> None:
        self.write(b"c" + f"{value.module}\n{value.name}\n".encode())
        self.memoize(value)

    dispatch[_Global] = save_global_name

    def save_tensor(self, value: Tensor) -> None:
        if value.is_sparse or value.dtype.name not in _STORAGES:
            raise NotImplementedError(f"save(): a tensor of {value.dtype} and {value.layout}; save its dense or converted form")
        key = str(len(self.raw))
        self.raw[key] = _bytes_of(value)
        storage = _Storage(value.dtype.name, key, value.numel())
        stride, strides = 1, []
        for size in reversed(value.shape):
            strides.insert(0, stride)
            stride *= max(size, 1)
        arguments = (storage, 0, tuple(value.shape), tuple(strides), value.requires_grad, OrderedDict())
        if isinstance(value, Parameter):
            inner = (storage, 0, tuple(value.shape), tuple(strides), False, OrderedDict())
            data = _Reduced(_Global("torch._utils", "_rebuild_tensor_v2"), inner)
            self.save_reduce(_Global("torch._utils", "_rebuild_parameter"), (data, value.requires_grad, OrderedDict()), obj=value)
        else:
            self.save_reduce(_Global("torch._utils", "_rebuild_tensor_v2"), arguments, obj=value)

    dispatch[Tensor] = dispatch[Parameter] = dispatch[Buffer] = save_tensor

    def save_reduced(self, value: _Reduced) -> None:
        self.save_reduce(value.function, value.arguments, obj=value)

    def save_size(self, value: Size) -> None:
        self.save_reduce(_Global("torch", "Size"), (tuple(value),), obj=value)

    def save_dtype(self, value: dtype) -> None:
        self.save(_Global("torch", value.name))

    def save_device(self, value: _device) -> None:
        self.save_reduce(_Global("torch", "device"), (str(value),), obj=value)

    dispatch[Size], dispatch[dtype], dispatch[_device] = save_size, save_dtype, save_device


class _Reduced:
    """An object that is saved as a call."""

    def __init__(self, function: _Global, arguments: tuple) -> None:
        self.function, self.arguments = function, arguments


_Pickler.dispatch[_Reduced] = _Pickler.save_reduced


# pickle checks that what rebuilds an object can be called.
setattr(_Global, "__call__", lambda self: None)


def _bytes_of(value: Tensor) -> bytes:
    kind = value.dtype
    raw = elements(value)
    if kind is float16:
        return struct.pack(f"<{len(raw)}e", *raw)
    if kind is bfloat16:
        # The upper halves of the floats, whose lower ones are zeros.
        full, half = bytes(raw), bytearray(2 * len(raw))
        half[0::2], half[1::2] = full[2::4], full[3::4]
        return bytes(half)
    return bytes(raw)


def _floats_of(raw: bytes, kind: dtype) -> bytes:
    """The bytes of half floats as those of floats."""
    if kind is float16:
        return array.array("f", struct.unpack(f"<{len(raw) // 2}e", raw)).tobytes()
    full = bytearray(2 * len(raw))
    full[2::4], full[3::4] = raw[0::2], raw[1::2]
    return bytes(full)


def save(obj: Any, f: Any, pickle_protocol: int = 2) -> None:
    """Writes an object into a file, by name or open for writing, that torch.load() and eg.io.load() read."""
    raw: dict[str, bytes] = {}
    text = io.BytesIO()
    _Pickler(text, raw).dump(obj)
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", text.getvalue())
        archive.writestr("archive/byteorder", "little")
        for key, content in raw.items():
            archive.writestr(f"archive/data/{key}", content)
        archive.writestr("archive/version", "3\n")


_SAFE = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): __import__("collections").defaultdict,
    ("builtins", "set"): set,
    ("__builtin__", "set"): set,
    ("builtins", "complex"): complex,
    ("builtins", "slice"): slice,
    ("torch", "Size"): Size,
    ("torch", "device"): _device,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, archive: zipfile.ZipFile, root: str, weights_only: bool) -> None:
        pickle.Unpickler.__init__(self, file, encoding="utf-8")
        self.archive, self.root, self.weights_only = archive, root, weights_only

    def find_class(self, module: str, name: str) -> Any:
        found = _SAFE.get((module, name))
        if found is not None:
            return found
        if module == "torch._utils":
            return {"_rebuild_tensor_v2": _tensor_v2, "_rebuild_parameter": _parameter}[name]
        if module in ("torch", "torch.storage") and name in _OF_STORAGE:
            return _OF_STORAGE[name]
        if module == "torch" and name in ALIASES:
            return ALIASES[name]
        if self.weights_only:
            raise pickle.UnpicklingError(
                f"load(): the file has a {module}.{name}, which could run any code; pass weights_only=False if you trust it"
            )
        if module == "torch" or module.startswith("torch."):
            module = "edgegrad." + module
        return pickle.Unpickler.find_class(self, module, name)

    def persistent_load(self, pid: Any) -> Any:
        _, kind, key, _, _ = pid
        return (kind, self.archive.read(f"{self.root}data/{key}"))


def _tensor_v2(storage: tuple, offset: int, size: tuple, stride: tuple, requires_grad: bool, *_: Any) -> Tensor:
    name, raw = storage
    kind = dtype.all[name]
    found = array.array(kind.code)
    found.frombytes(_floats_of(raw, kind) if kind in (float16, bfloat16) else raw)
    count = len(found) // (2 if kind.is_complex else 1)
    made = from_elements(found, kind, [count])
    made = made.as_strided(size, stride, offset).contiguous().clone()
    return made.requires_grad_() if requires_grad else made


def _parameter(data: Tensor, requires_grad: bool, *_: Any) -> Parameter:
    return Parameter(data.detach(), requires_grad)


def load(f: Any, map_location: Any = None, *, weights_only: bool = True, mmap: bool | None = None) -> Any:
    """Reads what save() or PyTorch's torch.save() has written. With weights_only, the default, no code in the file can run."""
    with zipfile.ZipFile(f) as archive:
        name = next((one for one in archive.namelist() if one.endswith("data.pkl")), None)
        if name is None:
            raise RuntimeError("load(): the archive has no data.pkl, so torch.save() has not written it")
        root = name.removesuffix("data.pkl")
        with archive.open(name) as file:
            found = _Unpickler(io.BytesIO(file.read()), archive, root, weights_only).load()
    return found if map_location is None else _mapped(found, map_location)


def _mapped(value: Any, place: Any) -> Any:
    if isinstance(value, Tensor):
        return value.to(place)
    if isinstance(value, dict):
        for key, one in value.items():
            value[key] = _mapped(one, place)
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(one, place) for one in value)
    return value


__all__ = ["load", "save"]
