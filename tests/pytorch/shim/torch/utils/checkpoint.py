"""torch.utils.checkpoint."""

from __future__ import annotations

import enum
from typing import Any, Callable

from .. import _bridge as bridge
from .._bridge import Mode, Unsupported, camel, function
from stubs import otherwise_missing
from .._tensor import Tensor


def checkpoint(
    fn: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Any = None,
    determinism_check: str = "default",
    preserve_rng_state: bool = True,
    debug: bool = False,
    **keywords: Any,
) -> Any:
    options = {
        "use_reentrant": bool(use_reentrant),
        "preserve_rng_state": preserve_rng_state,
        "determinism_check": determinism_check,
        "debug": debug,
    }
    if context_fn is not None:
        options["context_fn"] = lambda: [_around(one) for one in context_fn()]

    def call(*given: Any) -> Any:
        return _results(fn(*given, **keywords))

    return function("autograd", "checkpoint", [call, *args], options)


def _results(got: Any) -> Any:
    return list(got) if isinstance(got, tuple) else got


def _around(context: Any) -> Any:
    """Returns the function of JavaScript that a context stands for."""
    if isinstance(context, bridge.JSFunction):
        return context

    def around(run: bridge.JSFunction) -> Any:
        with context:
            return _results(run())

    return around


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: Any = None, **keywords: Any) -> Any:
    options = {"use_reentrant": bool(use_reentrant), **keywords}
    parts = list(functions.children()) if hasattr(functions, "children") else list(functions)
    return function("autograd", "checkpointSequential", [parts, segments, input], options)


class CheckpointPolicy(enum.Enum):
    """What a policy may return."""

    MUST_SAVE = "mustSave"
    PREFER_SAVE = "preferSave"
    MUST_RECOMPUTE = "mustRecompute"
    PREFER_RECOMPUTE = "preferRecompute"


class SelectiveCheckpointContext:
    """What a policy gets first."""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


class Op:
    """An operation of PyTorch, known by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise Unsupported("n/a: torch.ops")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class _Packet:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("__"):
            raise AttributeError(overload)
        return Op(camel(self._name))


class Ops:
    """torch.ops.aten."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Packet(name)


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> tuple:
    policy = policy_fn_or_list
    if isinstance(policy, list):
        if not all(isinstance(one, Op) for one in policy):
            raise ValueError("Expected op in `op_list` to be an OpOverload; update the OpOverloadPacket to a specific OpOverload")
        given: Any = [one.name for one in policy]
    elif not callable(policy):
        given = policy
    else:

        def given(ctx: dict, op: str, values: dict) -> Any:
            chosen = policy(SelectiveCheckpointContext(is_recompute=ctx["isRecompute"]), Op(op), *values.values())
            return chosen.value if isinstance(chosen, CheckpointPolicy) else chosen

    options = {"allow_cache_entry_mutation": True} if allow_cache_entry_mutation else {}
    return function("autograd", "createSelectiveCheckpointContexts", [given], options)


class set_checkpoint_early_stop(Mode):
    def __init__(self, enable: bool) -> None:
        super().__init__("setCheckpointEarlyStop", [enable], "autograd")


class set_checkpoint_debug_enabled(Mode):
    def __init__(self, enabled: bool | None) -> None:
        super().__init__("setCheckpointDebugEnabled", [enabled], "autograd")


def detach_variable(inputs: tuple) -> tuple:
    return tuple(
        one.detach().requires_grad_(one.requires_grad) if isinstance(one, Tensor) else one for one in inputs
    )


__getattr__ = otherwise_missing("torch.utils.checkpoint")
