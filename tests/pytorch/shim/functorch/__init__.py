"""functorch, the old name of torch.func."""

from torch._stubs import otherwise_missing
from torch.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

__getattr__ = otherwise_missing("functorch")
