"""Hooks of modules, and the calls that run them."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from typing import Any, Callable

from .._tensor import Tensor

_KINDS = ("pre", "forward", "backward_pre", "backward", "state_pre", "state_post", "load_pre", "load_post")


class RemovableHandle:
    """What registering a hook returns."""

    _next = 0

    def __init__(self, place: Place) -> None:
        RemovableHandle._next += 1
        self.id = RemovableHandle._next
        self._place = weakref.ref(place)

    def remove(self) -> None:
        place = self._place()
        if place is not None:
            place.pop(self.id, None)
            place.flags.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *failure: Any) -> None:
        self.remove()


class Place(OrderedDict):
    """Hooks of one kind in their order, by the numbers of their handles; can be referred to weakly."""

    def __init__(self, *given: Any) -> None:
        OrderedDict.__init__(self, *given)
        # Of hooks of calls: whether they take keywords, and whether they are called after an error, too.
        self.flags: dict[int, tuple[bool, bool]] = {}

    def add(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        handle = RemovableHandle(self)
        self[handle.id] = hook
        if prepend:
            self.move_to_end(handle.id, last=False)
        return handle


class Hooks:
    """The hooks of a module, by kind."""

    def __init__(self) -> None:
        self.of: dict[str, Place] = {kind: Place() for kind in _KINDS}

    def add(self, kind: str, hook: Callable, prepend: bool = False, flags: tuple[bool, bool] | None = None) -> RemovableHandle:
        place = self.of[kind]
        handle = place.add(hook, prepend)
        if flags is not None:
            place.flags[handle.id] = flags
        return handle

    def list(self, kind: str) -> list[tuple]:
        place = self.of[kind]
        return [(hook, *place.flags.get(key, (False, False))) for key, hook in place.items()]


# Those of all modules.
global_hooks = Hooks()


def register_module_forward_hook(hook: Callable, *, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    return global_hooks.add("forward", hook, False, (with_kwargs, always_call))


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    return global_hooks.add("pre", hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    return global_hooks.add("backward", hook)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    return global_hooks.add("backward_pre", hook)


def call(module: Any, own: Hooks | None, args: tuple, keywords: dict) -> Any:
    """Calls a module with its hooks and those of all modules."""

    def hooks(kind: str) -> list[tuple]:
        return global_hooks.list(kind) + (own.list(kind) if own is not None else [])

    made = None
    is_done = False
    called: set = set()
    try:
        for hook, with_keywords, _ in hooks("pre"):
            args, keywords = _before(module, hook, with_keywords, args, keywords)
        pre, post = hooks("backward_pre"), hooks("backward")
        backward = BackwardHooks(module, pre, post) if pre or post else None
        given = backward.inputs(args) if backward else args
        made = module.forward(*given, **keywords)
        for entry in hooks("forward"):
            called.add(id(entry[0]))
            made = _after(module, entry, args, keywords, made)
        if backward:
            made = backward.outputs(made)
        is_done = True
        return made
    finally:
        if not is_done:
            for entry in hooks("forward"):
                if entry[2] and id(entry[0]) not in called:
                    _after(module, entry, args, keywords, made)


def _before(module: Any, hook: Callable, with_keywords: bool, args: tuple, keywords: dict) -> tuple[tuple, dict]:
    if with_keywords:
        found = hook(module, args, keywords)
        return (args, keywords) if found is None else found
    found = hook(module, args)
    if found is None:
        return args, keywords
    return found if isinstance(found, tuple) else (found,), keywords


def _after(module: Any, entry: tuple, args: tuple, keywords: dict, made: Any) -> Any:
    hook, with_keywords, _ = entry
    found = hook(module, args, keywords, made) if with_keywords else hook(module, args, made)
    return made if found is None else found


class BackwardHooks:
    """The hooks on the gradients of one call: identities around the module's tensors collect them."""

    def __init__(self, module: Any, pre: list[tuple], post: list[tuple]) -> None:
        self.module, self.pre, self.post = module, pre, post
        self.grad_outputs: tuple | None = None
        self.has_inputs = False

    def inputs(self, args: tuple) -> tuple:
        self.count = len(args)
        places = [i for i, one in enumerate(args) if isinstance(one, Tensor) and one.requires_grad]
        if not places or not self.post:
            return args
        self.has_inputs = True
        passed = _identity(self._on_inputs).apply(*[args[i] for i in places])
        passed = passed if isinstance(passed, tuple) else (passed,)
        rest = list(args)
        for i, one in zip(places, passed):
            rest[i] = one
        self.places = places
        return tuple(rest)

    def outputs(self, made: Any) -> Any:
        several = isinstance(made, tuple)
        given = made if several else (made,)
        places = [i for i, one in enumerate(given) if isinstance(one, Tensor) and one.requires_grad]
        if not places:
            return made
        self.outer, self.outer_places = len(given), places
        passed = _identity(self._on_outputs).apply(*[given[i] for i in places])
        passed = passed if isinstance(passed, tuple) else (passed,)
        rest = list(given)
        for i, one in zip(places, passed):
            rest[i] = one
        return tuple(rest) if several else rest[0]

    def _on_outputs(self, grads: tuple) -> tuple:
        full: list = [None] * self.outer
        for i, grad in zip(self.outer_places, grads):
            full[i] = grad
        for hook, *_ in self.pre:
            found = hook(self.module, tuple(full))
            if found is not None:
                full = list(found) if isinstance(found, tuple) else [found]
        self.grad_outputs = tuple(full)
        if not self.has_inputs:
            for hook, *_ in self.post:
                hook(self.module, (None,) * self.count, self.grad_outputs)
        return tuple(full[i] for i in self.outer_places)

    def _on_inputs(self, grads: tuple) -> tuple:
        full: list = [None] * self.count
        for i, grad in zip(self.places, grads):
            full[i] = grad
        for hook, *_ in self.post:
            found = hook(self.module, tuple(full), self.grad_outputs)
            if found is not None:
                full = list(found) if isinstance(found, tuple) else [found]
        return tuple(full[i] for i in self.places)


def _identity(on_grads: Callable[[tuple], tuple]) -> Any:
    """A function that changes nothing, and hands the gradients to `on_grads`."""
    from ..autograd import Function

    class ModuleBoundary(Function):
        @staticmethod
        def forward(ctx: Any, *tensors: Tensor) -> Any:
            made = tuple(one.view_as(one) for one in tensors)
            return made if len(made) > 1 else made[0]

        @staticmethod
        def backward(ctx: Any, *grads: Tensor) -> tuple:
            return on_grads(grads)

    return ModuleBoundary
