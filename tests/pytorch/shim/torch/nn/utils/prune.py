"""torch.nn.utils.prune. Its functions take their first arguments by position in edgegrad."""

from __future__ import annotations

from typing import Any

from ..module import Module
from . import functions_of

_FIRST = ("module", "parameters", "name", "pruning_method", "amount", "mask", "n", "dim")
_find = functions_of("nn.utils.prune")


def __getattr__(name: str) -> Any:
    found = _find(name)
    if isinstance(found, type):
        return found

    def call(*args: Any, **keywords: Any) -> Any:
        given = [*args, *[keywords.pop(key) for key in _FIRST if key in keywords]]
        if given and isinstance(given[0], (list, tuple)) and not isinstance(given[0], Module):
            given[0] = [list(pair) for pair in given[0]]
        return found(*given, **keywords)

    return call
