"""torch.utils.checkpoint: computing again instead of saving."""

from __future__ import annotations

from typing import Any, Callable

from .._calls import function, with_tensors_in_tuples


def checkpoint(fn: Callable, *args: Any, use_reentrant: bool | None = None, preserve_rng_state: bool = True, **keywords: Any) -> Any:
    """Calls fn, and again in backward, so that nothing in between is kept."""
    if use_reentrant:
        raise NotImplementedError("checkpoint(use_reentrant=True): edgegrad's checkpoint is the other one")

    def run(*given: Any) -> Any:
        return fn(*given, **keywords)

    options = {"preserve_rng_state": preserve_rng_state}
    return with_tensors_in_tuples(function("autograd", "checkpoint", [run, *args], options if not preserve_rng_state else None, "hold"))
