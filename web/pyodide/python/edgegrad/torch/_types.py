"""The small types of torch: dtype, device, Size, layout, memory_format."""

from __future__ import annotations

from typing import Any

import builtins


class dtype:
    """The type of elements."""

    all: dict[str, dtype] = {}

    def __init__(self, name: str, itemsize: int, kind: str, code: str) -> None:
        # `code` is the type of buffers that hold such elements: half floats travel as float32, complex numbers as pairs.
        self.name, self.itemsize, self.kind, self.code = name, itemsize, kind, code
        self.is_floating_point, self.is_complex = kind == "f", kind == "c"
        self.is_signed = kind != "b" and not name.startswith("uint")
        dtype.all[name] = self

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> tuple:
        return (_dtype_of, (self.name,))

    def __deepcopy__(self, memo: dict) -> dtype:
        return self

    def to_real(self) -> dtype:
        """The dtype of the real parts."""
        return dtype.all[_REAL.get(self.name, self.name)]

    def to_complex(self) -> dtype:
        """The dtype of complex numbers with such parts."""
        return next((dtype.all[c] for c, r in _REAL.items() if r == self.name), self if self.is_complex else complex64)


_REAL = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


def _dtype_of(name: str) -> dtype:
    return dtype.all[name]


float32, float64 = dtype("float32", 4, "f", "f"), dtype("float64", 8, "f", "d")
float16, bfloat16 = dtype("float16", 2, "f", "f"), dtype("bfloat16", 2, "f", "f")
float8_e4m3fn, float8_e5m2 = dtype("float8_e4m3fn", 1, "f", "f"), dtype("float8_e5m2", 1, "f", "f")
int8, int16, int32 = dtype("int8", 1, "i", "b"), dtype("int16", 2, "i", "h"), dtype("int32", 4, "i", "i")
uint16, uint32, uint64 = dtype("uint16", 2, "i", "H"), dtype("uint32", 4, "i", "I"), dtype("uint64", 8, "i", "Q")
int64, uint8, bool_ = dtype("int64", 8, "i", "q"), dtype("uint8", 1, "i", "B"), dtype("bool", 1, "b", "B")
complex32, complex64 = dtype("complex32", 4, "c", "f"), dtype("complex64", 8, "c", "f")
complex128 = dtype("complex128", 16, "c", "d")

ALIASES: dict[str, dtype] = {
    **dtype.all,
    "float": float32,
    "double": float64,
    "half": float16,
    "short": int16,
    "int": int32,
    "long": int64,
    "chalf": complex32,
    "cfloat": complex64,
    "cdouble": complex128,
}


# Python's types as dtypes.
PYTHON_DTYPES: dict[type, dtype] = {builtins.bool: bool_, builtins.int: int64, builtins.float: float64, builtins.complex: complex128}


class Size(tuple):
    """The sizes of a tensor's dimensions."""

    def numel(self) -> int:
        count = 1
        for size in self:
            count *= size
        return count

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: tuple) -> Size:  # type: ignore[override]
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: tuple) -> Size:
        return Size((*other, *self))

    def __mul__(self, count: Any) -> Size:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__  # type: ignore[assignment]


# Those of edgegrad, and those of PyTorch that a program may name and must not use.
_DEVICES = ("cpu", "webgpu", "cuda", "mps", "xpu", "meta")


class device:
    """Where a tensor's elements are: "cpu" or "webgpu". Others can be named, and raise when a tensor is to be there.

    In `with device:` new tensors are there.
    """

    type: str
    index: int | None

    def __init__(self, type: str | device, index: builtins.int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if not isinstance(type, str):
            raise TypeError(f"device(): expected a string or a device, got {type!r}")
        name, _, number = type.partition(":")
        if name not in _DEVICES:
            raise RuntimeError(f'device "{type}": the devices of edgegrad are "cpu" and "webgpu"')
        self.type, self.index = name, builtins.int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, device) and self.type == other.type and (self.index or 0) == (other.index or 0)

    def __hash__(self) -> builtins.int:
        return hash(self.type)

    def __reduce__(self) -> tuple:
        return (device, (str(self),))

    def __enter__(self) -> device:
        _defaults.append(self)
        return self

    def __exit__(self, *failure: object) -> None:
        _defaults.pop()


# Where new tensors are: by set_default_device(), then by each `with` that is open.
_defaults: list[device | None] = [None]


def set_default_device(device: device | str | None) -> None:
    """Sets where new tensors are; None is the CPU."""
    _defaults[0] = None if device is None else _device(device)


def get_default_device() -> device:
    """Returns where new tensors are."""
    return default_device() or device("cpu")


def default_device() -> device | None:
    """Returns where new tensors are, or None if nobody has said."""
    return _defaults[-1]


_device = device


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name


class layout(_Named):
    """How elements are stored."""


class memory_format(_Named):
    """In which order elements are stored."""


strided, sparse_coo, sparse_csr = layout("strided"), layout("sparse_coo"), layout("sparse_csr")
contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")


def check_format(given: Any) -> None:
    """Refuses what is no memory format. A format changes no value: edgegrad stores elements in row-major order, whatever is asked for."""
    if given is not None and not isinstance(given, memory_format):
        raise TypeError(f"memory_format={given!r}: expected a torch.memory_format")


def check_layout(given: Any) -> None:
    """Refuses a layout where only dense tensors are made."""
    if given not in (None, strided):
        raise NotImplementedError(f"layout={given!r}: only torch.strided is possible here")
