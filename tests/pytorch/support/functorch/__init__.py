"""functorch, the old name of torch.func, with the functions that PyTorch has kept only here: of modules as functions."""

from __future__ import annotations

import copy
from typing import Any, Callable

import target
import torch
from stubs import otherwise_missing
from torch.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    replace_all_batch_norm_modules_,
    stack_module_state,
    vjp,
    vmap,
)


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> tuple:
    """Returns a module as a function of its parameters, and these; edgegrad has functionalCall for that."""
    call, parameters, _ = _functional(model, disable_autograd_tracking)
    return lambda params, *args, **keywords: call(params, (), *args, **keywords), parameters


def make_functional_with_buffers(model: Any, disable_autograd_tracking: bool = False) -> tuple:
    return _functional(model, disable_autograd_tracking)


def _functional(model: Any, disable_autograd_tracking: bool) -> tuple:
    target.emulated.add("make_functional")
    own = copy.deepcopy(model)
    names = [name for name, _ in own.named_parameters()]
    buffer_names = [name for name, _ in own.named_buffers()]
    parameters = tuple(one for _, one in copy.deepcopy(own).named_parameters())
    if disable_autograd_tracking:
        parameters = tuple(one.detach() for one in parameters)
    buffers = tuple(one.detach().clone() for _, one in own.named_buffers())

    def call(params: Any, given: Any, *args: Any, **keywords: Any) -> Any:
        state = {**dict(zip(names, params)), **dict(zip(buffer_names, given))}
        return functional_call(own, state, args, keywords or None)

    return call, parameters, buffers


def combine_state_for_ensemble(models: Any) -> tuple:
    target.emulated.add("combine_state_for_ensemble")
    made = [_functional(model, False) for model in models]
    call: Callable = made[0][0]
    params = tuple(torch.stack([one.detach() for one in many]).requires_grad_() for many in zip(*[m[1] for m in made]))
    buffers = tuple(torch.stack(list(many)) for many in zip(*[m[2] for m in made]))
    return call, params, buffers


__getattr__ = otherwise_missing("functorch")
