"""dtype, device, Size and layout."""

from __future__ import annotations

import math
from typing import Any, Callable

from ._bridge import Unsupported

# Those that edgegrad computes with; of the others, tests are not run.
SUPPORTED = {
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex32",
    "complex64",
    "complex128",
}


class dtype:
    """A dtype of PyTorch, whether edgegrad has it or not. `kind` is one of "bifc", in the order of promotion."""

    by_name: dict[str, dtype] = {}

    def __init__(self, name: str, itemsize: int, kind: str) -> None:
        self.name, self.itemsize, self.kind = name, itemsize, kind
        self.is_floating_point = kind == "f"
        self.is_complex = kind == "c"
        self.is_signed = kind != "b" and not name.startswith("uint")
        dtype.by_name[name] = self

    @property
    def _js_value(self) -> str:
        if self.name not in SUPPORTED:
            raise Unsupported(f"missing: dtype {self.name}")
        return self.name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return (dtype.by_name.get, (self.name,))

    def __deepcopy__(self, memo: dict) -> dtype:
        return self

    def to_complex(self) -> dtype:
        """The complex dtype whose parts have this dtype."""
        found = {"float16": "complex32", "float32": "complex64", "float64": "complex128"}
        return dtype.by_name[found.get(self.name, self.name)]

    def to_real(self) -> dtype:
        """The dtype of the parts of a complex dtype."""
        found = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
        return dtype.by_name[found.get(self.name, self.name)]


bool_ = dtype("bool", 1, "b")
uint8, int8 = dtype("uint8", 1, "i"), dtype("int8", 1, "i")
uint16, int16 = dtype("uint16", 2, "i"), dtype("int16", 2, "i")
uint32, int32 = dtype("uint32", 4, "i"), dtype("int32", 4, "i")
uint64, int64 = dtype("uint64", 8, "i"), dtype("int64", 8, "i")
float16, bfloat16 = dtype("float16", 2, "f"), dtype("bfloat16", 2, "f")
float32, float64 = dtype("float32", 4, "f"), dtype("float64", 8, "f")
complex32 = dtype("complex32", 4, "c")
complex64, complex128 = dtype("complex64", 8, "c"), dtype("complex128", 16, "c")
float8_e4m3fn, float8_e5m2 = dtype("float8_e4m3fn", 1, "f"), dtype("float8_e5m2", 1, "f")
float8_e4m3fnuz, float8_e5m2fnuz = dtype("float8_e4m3fnuz", 1, "f"), dtype("float8_e5m2fnuz", 1, "f")
qint8, quint8, qint32 = dtype("qint8", 1, "q"), dtype("quint8", 1, "q"), dtype("qint32", 4, "q")
quint4x2, quint2x4 = dtype("quint4x2", 1, "q"), dtype("quint2x4", 1, "q")

# PyTorch's other names.
ALIASES = {
    "bool": bool_,
    "short": int16,
    "int": int32,
    "long": int64,
    "half": float16,
    "float": float32,
    "double": float64,
    "chalf": complex32,
    "cfloat": complex64,
    "cdouble": complex128,
}


class device:
    """A device; JavaScript gets its type."""

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        if isinstance(type, int):
            type, index = "cuda", type
        if ":" in type:
            type, number = type.split(":")
            index = int(number)
        self.type, self.index = type, index

    @property
    def _js_value(self) -> str:
        return self.type

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __enter__(self) -> device:
        """As a block, the device of what is made there: the CPU's is that without a block."""
        return self

    def __exit__(self, *_: Any) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class Size(tuple):
    """The shape of a tensor."""

    def numel(self) -> int:
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __getitem__(self, at: Any) -> Any:
        got = tuple.__getitem__(self, at)
        return Size(got) if isinstance(at, slice) else got

    def __add__(self, other: Any) -> Size:
        return Size((*self, *other))

    def __radd__(self, other: Any) -> Size:
        return Size((*other, *self))

    def __mul__(self, count: Any) -> Size:
        return Size(tuple(self) * count)

    __rmul__ = __mul__


class layout:
    """A layout; edgegrad has strided, sparse_coo and sparse_csr, and decided against others."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._js_value = {"$u": 1}

    def __repr__(self) -> str:
        return f"torch.{self.name}"


strided, jagged, _mkldnn = layout("strided"), layout("jagged"), layout("_mkldnn")
sparse_coo, sparse_csr, sparse_csc = layout("sparse_coo"), layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")
LAYOUTS = {one.name: one for one in (strided, sparse_coo, sparse_csr)}


def check_layout(given: layout | None) -> None:
    """Refuses the layouts that edgegrad does not have."""
    if given in (sparse_csc, sparse_bsr, sparse_bsc):
        raise Unsupported("n/a: layouts that edgegrad decided against: CSC, BSR and BSC")


def refused(name: str) -> Callable:
    """Returns a function of PyTorch that is only for the layouts that edgegrad does not have."""

    def refuse(*_: Any, **__: Any) -> Any:
        check_layout(sparse_csc)

    refuse.__name__ = name
    return refuse


class memory_format:
    """A memory format, which edgegrad does not have: tensors are made as if none was given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._js_value = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


contiguous_format, preserve_format = memory_format("contiguous_format"), memory_format("preserve_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")
