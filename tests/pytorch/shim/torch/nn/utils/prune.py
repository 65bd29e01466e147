"""torch.nn.utils.prune. Its functions take their first arguments by position in edgegrad."""

from __future__ import annotations

from typing import Any

from ..._bridge import function, method
from ..module import Module
from . import functions_of

_FIRST = ("module", "parameters", "name", "pruning_method", "amount", "mask", "n", "dim")
_find = functions_of("nn.utils.prune")


def _prune(self: Any, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
    return method(self, "prune", [t, default_mask, importance_scores])


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: dict | None = None, **keywords: Any
) -> None:
    if importance_scores is not None:
        keywords["importance_scores"] = [importance_scores.get(pair) for pair in parameters]
    pairs = [list(pair) for pair in parameters]
    function("nn.utils.prune", "globalUnstructured", [pairs, pruning_method], keywords)


def __getattr__(name: str) -> Any:
    found = _find(name)
    if isinstance(found, type):
        found.prune = _prune
        return found

    def call(*args: Any, **keywords: Any) -> Any:
        given = [*args, *[keywords.pop(key) for key in _FIRST if key in keywords]]
        if given and isinstance(given[0], (list, tuple)) and not isinstance(given[0], Module):
            given[0] = [list(pair) for pair in given[0]]
        return found(*given, **keywords)

    return call
