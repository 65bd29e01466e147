"""Which of Python's exceptions an error of the engine is. PyTorch's own tests of the JavaScript package read this file, too."""

from __future__ import annotations

import re
from functools import cache


class EdgeGradError(RuntimeError):
    """An error of the engine. `code` names its kind; it is also an instance of the classes that PyTorch may raise there."""

    code: str | None = None


class OutOfMemoryError(EdgeGradError):
    """There is no memory for a tensor."""


# What PyTorch raises where edgegrad throws an error with this code. PyTorch chooses among these by where it checks (in Python, in the parser of
# arguments, in C++), not by what is wrong, so an exception is of all of them. A code that is not listed stands for RuntimeError.
STANDS_FOR: dict[str, tuple[type[Exception], ...]] = {
    "InvalidArgument": (TypeError, ValueError, AssertionError),
    "ShapeMismatch": (ValueError, AssertionError),
    "DtypeMismatch": (NotImplementedError, TypeError, ValueError, AssertionError),
    "IndexOutOfRange": (IndexError,),
    "NotDifferentiable": (NotImplementedError,),
}
# What is wrong with an index is an IndexError in PyTorch, whatever it is. The message begins with the name of the caller.
_OF_INDICES = re.compile(r"\[(at|set_|indexPut_?)\]")
# A member that a class leaves out.
_OF_MISSING = re.compile(r"does not implement|is not known for")


def error_of(code: str | None, message: str) -> EdgeGradError:
    """Returns the exception for an error of the engine."""
    if code == "OutOfMemory":
        made: EdgeGradError = OutOfMemoryError(message)
    else:
        made = _class_for(code, bool(_OF_INDICES.match(message)), bool(_OF_MISSING.search(message)))(message)
    made.code = code
    return made


@cache
def _class_for(code: str | None, is_of_index: bool, is_missing: bool) -> type:
    kinds = STANDS_FOR.get(code or "", ())
    if is_missing and NotImplementedError not in kinds:
        kinds = (NotImplementedError, *kinds)
    if is_of_index and IndexError not in kinds:
        kinds = (*kinds, IndexError)
    return type("EdgeGradError", (EdgeGradError, *kinds), {"__module__": __name__}) if kinds else EdgeGradError
