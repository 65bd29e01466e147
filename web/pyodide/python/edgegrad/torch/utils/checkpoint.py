"""torch.utils.checkpoint: computing again instead of saving."""

from __future__ import annotations

import enum
from typing import Any, Callable

from .._calls import function
from .._bridge import ForeignFunction
from .._modes import Mode
from .._tensor import Tensor


def checkpoint(
    fn: Callable,
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable | None = None,
    determinism_check: str = "default",
    preserve_rng_state: bool = True,
    debug: bool = False,
    **keywords: Any,
) -> Any:
    """Calls fn, and again in backward, so that nothing in between is kept."""
    options = {
        "use_reentrant": bool(use_reentrant),
        "preserve_rng_state": preserve_rng_state,
        "determinism_check": determinism_check,
        "debug": debug,
    }
    if context_fn is not None:
        options["context_fn"] = lambda: [_around(one) for one in context_fn()]
    # JavaScript sees the tensors alone; everything else that fn takes and returns stays in Python.
    places = [at for at, one in enumerate(args) if isinstance(one, Tensor)]
    returned: list = []

    def run(*tensors: Tensor) -> Any:
        given = list(args)
        for at, tensor in zip(places, tensors):
            given[at] = tensor
        leaves: list[Tensor] = []
        returned[:] = [_without_tensors(fn(*given, **keywords), leaves)]
        return leaves

    tensors = function("autograd", "checkpoint", [run, *[args[at] for at in places]], options, "hold")
    return _with_tensors(returned[0], iter(tensors))


class _Leaf:
    """Stands for a tensor in a result."""


def _without_tensors(value: Any, leaves: list[Tensor]) -> Any:
    if isinstance(value, Tensor):
        leaves.append(value)
        return _Leaf
    return _mapped(value, lambda one: _without_tensors(one, leaves))


def _with_tensors(value: Any, leaves: Any) -> Any:
    return next(leaves) if value is _Leaf else _mapped(value, lambda one: _with_tensors(one, leaves))


def _mapped(value: Any, change: Callable) -> Any:
    if isinstance(value, tuple):
        parts = [change(one) for one in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, list):
        return [change(one) for one in value]
    return {key: change(one) for key, one in value.items()} if type(value) is dict else value


def _around(context: Any) -> Any:
    """Returns the function of JavaScript that a context stands for."""
    if isinstance(context, ForeignFunction):
        return context

    def around(run: Callable) -> Any:
        with context:
            return run()

    return around


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **keywords: Any) -> Any:
    """checkpoint() for each of the segments of a sequence of functions but the last."""
    parts = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(parts) // segments

    def segment(some: list) -> Callable:
        def run(value: Any) -> Any:
            for part in some:
                value = part(value)
            return value

        return run

    for at in range(0, size * (segments - 1), size):
        input = checkpoint(segment(parts[at : at + size]), input, use_reentrant=use_reentrant, **keywords)
    return segment(parts[size * (segments - 1) :])(input)


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
    """An operation, known by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> tuple:
    """Returns two contexts for `context_fn`, by a list of operations whose results are saved or by a function that decides."""
    policy = policy_fn_or_list
    given: Any = policy
    if isinstance(policy, list):
        if not all(isinstance(one, Op) for one in policy):
            raise ValueError("create_selective_checkpoint_contexts(): expected a list of operations")
        given = [one.name for one in policy]
    elif callable(policy):

        def given(ctx: dict, op: str, values: dict) -> Any:
            chosen = policy(SelectiveCheckpointContext(is_recompute=ctx["isRecompute"]), Op(op), *values.values())
            return chosen.value if isinstance(chosen, CheckpointPolicy) else chosen

    options = {"allow_cache_entry_mutation": True} if allow_cache_entry_mutation else {}
    return tuple(function("autograd", "createSelectiveCheckpointContexts", [given], options, "hold"))


class set_checkpoint_early_stop(Mode):
    """Whether a recomputation ends with the last tensor that is needed."""

    path = "autograd.setCheckpointEarlyStop"

    def __init__(self, enable: bool) -> None:
        Mode.__init__(self)
        self.enable = enable

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (self.enable,), None


class set_checkpoint_debug_enabled(Mode):
    """Whether errors of recomputations list the operations of both runs."""

    path = "autograd.setCheckpointDebugEnabled"

    def __init__(self, enabled: bool | None) -> None:
        Mode.__init__(self)
        self.enabled = enabled

    def _arguments(self) -> tuple[tuple, dict | None]:
        return (self.enabled,), None


def detach_variable(inputs: tuple) -> tuple:
    """Detached copies of the tensors among inputs."""
    return tuple(one.detach().requires_grad_(one.requires_grad) if isinstance(one, Tensor) else one for one in inputs)
