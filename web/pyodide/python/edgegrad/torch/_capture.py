"""torch.capture: edgegrad's capture(), for steps in Python."""

from __future__ import annotations

from typing import Any, Callable

from ._bridge import Held, JsException, js, python_error
from ._calls import function, with_tensors_in_tuples
from ._host import to_js
from ._tensor import Tensor, wrap


class Captured(Held):
    """A step that has been recorded: called with tensors like those it was recorded with, it runs without Python."""

    def __call__(self, *inputs: Tensor) -> Any:
        return with_tensors_in_tuples(function("call", "", [self, *inputs]))


def capture(step: Callable, *inputs: Tensor) -> Captured:
    """Runs `step` twice with `inputs`, records what it computes, and returns a function that repeats it in one call.

    `step` takes tensors and returns a tensor, a tuple of tensors or None. What it does in Python happens while it is recorded, and never
    again: a Python number in it stays what it was. As edgegrad's capture().
    """
    kept: list = []

    def run(*handles: int) -> Any:
        made = step(*map(wrap, handles))
        kept[:] = made if isinstance(made, (tuple, list)) else [made]
        if made is None:
            return -1
        if isinstance(made, Tensor):
            return made.h
        return to_js([one.h for one in made])

    try:
        handle = js.capture(run, *[one.h for one in inputs])
    except JsException as error:
        raise python_error(error) from None
    made = Captured()
    made.h = handle
    return made
