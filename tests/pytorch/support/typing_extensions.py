"""The part of typing_extensions that PyTorch's test support imports: Debian's is older than PyTorch asks for."""

from __future__ import annotations

from typing import *
from typing import Any, Callable


def deprecated(message: str, **_: Any) -> Callable:
    """Marks nothing: what is deprecated is tested like the rest."""
    return lambda decorated: decorated
