"""Exceptions: which of Python's classes each error code of edgegrad stands for."""

from __future__ import annotations

import functools
import re

from stubs import Unsupported as Unsupported

# What PyTorch throws where edgegrad throws an error with this code. PyTorch chooses among these by where it checks (in Python, in the
# parser of arguments, in C++), not by what is wrong. A code that is not listed stands for RuntimeError.
STANDS_FOR: dict[str, tuple[type[Exception], ...]] = {
    "InvalidArgument": (RuntimeError, TypeError, ValueError, AssertionError),
    "ShapeMismatch": (RuntimeError, ValueError, AssertionError),
    "DtypeMismatch": (NotImplementedError, TypeError, ValueError, AssertionError),
    "IndexOutOfRange": (IndexError, RuntimeError),
    "NotDifferentiable": (NotImplementedError,),
}


class EdgeGradError:
    """Base of the exceptions that stand for an EdgeGradError; `code` is its code."""

    code = "Internal"


class BridgeDied(BaseException):
    """The Node process has ended."""


# What is wrong with an index is an IndexError in PyTorch, whatever it is. The message begins with the name of the caller.
_OF_INDICES = re.compile(r"\[(at|set_|indexPut_?)\]")


# A member that a class leaves out.
_OF_MISSING = re.compile(r"does not implement|is not known for")


@functools.cache
def _class_of(code: str, is_of_index: bool, is_missing: bool) -> type:
    bases = STANDS_FOR.get(code, (RuntimeError,))
    if is_missing:
        bases = (NotImplementedError, *[one for one in bases if one is not RuntimeError])
    if is_of_index and IndexError not in bases:
        bases = (*bases, IndexError)
    return type(code, (EdgeGradError, *bases), {"code": code})


def error_of(code: str, text: str) -> Exception:
    """Returns the exception for an EdgeGradError."""
    return _class_of(code, bool(_OF_INDICES.match(text)), bool(_OF_MISSING.search(text)))(text)
