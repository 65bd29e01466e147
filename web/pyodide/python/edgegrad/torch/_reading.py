"""Reading elements: as numbers, lists, buffers and text."""

from __future__ import annotations

import re
from typing import Any

from . import _bridge as bridge
from ._bridge import JsException, js, python_error
from ._host import can_run_sync, run_sync
from ._tensor import Tensor


def item(self: Tensor) -> Any:
    """The element of a tensor on a GPU: waits where Python can be suspended, and otherwise blocks where the page allows that."""
    if can_run_sync():
        return run_sync(self.item_async())
    try:
        kind = js.value(self.h, True)
    except JsException as error:
        raise python_error(error) from None
    if kind < 2:
        return bridge.numbers[0] if kind == 0 else int(bridge.numbers[0])
    return kind == 3 if kind < 4 else bridge.decode(js.result())


def elements(self: Tensor) -> memoryview:
    """A copy of the elements: complex numbers as pairs, half floats as float32."""
    try:
        return js.elements(self.h).to_memoryview()
    except JsException as error:
        raise python_error(error) from None


def tolist(self: Tensor) -> Any:
    """The elements as nested lists; of a tensor without dimensions the number."""
    shape = self.shape
    if not shape:
        return self.item()
    flat: list = elements(self).tolist()
    kind = self.dtype.kind
    if kind == "c":
        flat = [complex(re, im) for re, im in zip(flat[::2], flat[1::2])]
    elif kind == "b":
        flat = [bool(one) for one in flat]
    for place in range(len(shape) - 1, 0, -1):
        size, count = shape[place], shape[:place].numel()
        flat = [flat[i * size : (i + 1) * size] for i in range(count)]
    return flat


def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The elements as a numpy array, which is a copy: numpy cannot see the engine's memory."""
    import numpy as np

    from ._modes import is_grad_enabled

    if self.requires_grad and not force and is_grad_enabled():
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    if self.dtype.name == "bfloat16":
        raise TypeError("numpy has no bfloat16; use tensor.float().numpy()")
    name = {"bfloat16": "float32", "float16": "float32", "complex32": "complex64"}.get(self.dtype.name, self.dtype.name)
    made = np.frombuffer(elements(self), dtype=name).reshape(self.shape)
    return made.astype("float16") if self.dtype.name == "float16" else made


def _array(self: Tensor, dtype: Any = None, copy: Any = None) -> Any:
    made = numpy(self)
    return made if dtype is None else made.astype(dtype, copy=False)


# JavaScript's names of dtypes and layouts have no `torch.` before them, and its layouts come first.
_KIND = re.compile(r"\b(dtype|layout)=")
_LAYOUT_FIRST = re.compile(r"(layout=[\w.]+), (dtype=[\w.]+)")


def text(self: Tensor) -> str:
    """The tensor as PyTorch prints it."""
    spelled = _KIND.sub(r"\1=torch.", js.text(self.h))
    return _LAYOUT_FIRST.sub(r"\2, \1", spelled)


for _name, _member in {"tolist": tolist, "numpy": numpy, "__array__": _array}.items():
    setattr(Tensor, _name, _member)
