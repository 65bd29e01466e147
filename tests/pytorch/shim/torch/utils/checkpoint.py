"""torch.utils.checkpoint."""

from __future__ import annotations

from typing import Any, Callable

from .._bridge import Unsupported, function
from .._stubs import otherwise_missing


def checkpoint(
    fn: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Any = None,
    determinism_check: str = "default",
    debug: bool = False,
    **keywords: Any,
) -> Any:
    if context_fn is not None or debug:
        raise Unsupported("missing: checkpoint with context_fn or debug")
    if use_reentrant:
        raise Unsupported("missing: reentrant checkpoints")

    def call(*given: Any) -> Any:
        got = fn(*given, **keywords)
        return list(got) if isinstance(got, tuple) else got

    return function("autograd", "checkpoint", [call, *args])


__getattr__ = otherwise_missing("torch.utils.checkpoint")
