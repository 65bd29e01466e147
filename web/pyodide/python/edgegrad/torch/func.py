"""torch.func: transforms of functions."""

from __future__ import annotations

from typing import Any, Callable

from ._bridge import ForeignFunction
from ._calls import function
from ._tensor import Tensor


def _tree(value: Any) -> Any:
    """Lists of results as tuples."""
    if isinstance(value, list):
        return tuple(_tree(one) for one in value)
    if isinstance(value, dict):
        return {key: _tree(one) for key, one in value.items()}
    return value


def _transformed(name: str, func: Callable, args: list, options: dict) -> Callable:
    made: ForeignFunction = function("func", name, [func, *args], {k: v for k, v in options.items() if v is not None}, "hold")

    def call(*given: Any, **keywords: Any) -> Any:
        if keywords:
            return _transformed(name, lambda *args: func(*args, **keywords), args, options)(*given)
        return _tree(function("call", "", [made, *given], None, "hold"))

    call.__name__ = getattr(func, "__name__", name)
    return call


def vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None) -> Callable:
    """A function of batches from a function of one sample."""
    options = {"in_dims": in_dims, "out_dims": out_dims, "randomness": randomness, "chunk_size": chunk_size}
    return _transformed("vmap", func, [], options)


def grad(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    """The function that computes the gradient of a function with a number as its result."""
    return _transformed("grad", func, [], {"argnums": argnums, "has_aux": has_aux})


def grad_and_value(func: Callable, argnums: Any = 0, has_aux: bool = False) -> Callable:
    return _transformed("gradAndValue", func, [], {"argnums": argnums, "has_aux": has_aux})


def jacrev(
    func: Callable, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None, _preallocate_and_copy: bool = False
) -> Callable:
    return _transformed("jacrev", func, [], {"argnums": argnums, "has_aux": has_aux, "chunk_size": chunk_size})


def jacfwd(func: Callable, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Callable:
    return _transformed("jacfwd", func, [], {"argnums": argnums, "has_aux": has_aux, "randomness": randomness})


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    return _transformed("hessian", func, [], {"argnums": argnums})


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple:
    """The result, and the function that multiplies vectors with the Jacobian from the left."""
    made = function("func", "vjp", [func, *primals], {"has_aux": True} if has_aux else None, "keep")
    return tuple(_called(one) for one in made)


def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> tuple:
    """The result, and its derivative in the direction of tangents."""
    if isinstance(primals, (tuple, list)) and isinstance(tangents, (tuple, list)) and len(primals) != len(tangents):
        raise RuntimeError(f"jvp(): {len(primals)} primals and {len(tangents)} tangents must have the same structure")
    options = {key: True for key, given in (("has_aux", has_aux), ("strict", strict)) if given}
    return _tree(function("func", "jvp", [func, list(primals), list(tangents)], options, "hold"))


def linearize(func: Callable, *primals: Any) -> tuple:
    return tuple(_called(one) for one in function("func", "linearize", [func, *primals], None, "keep"))


def _called(value: Any) -> Any:
    if not isinstance(value, ForeignFunction):
        return _tree(value)

    def call(*given: Any) -> Any:
        return _tree(function("call", "", [value, *given], None, "hold"))

    return call


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Calls a module with other parameters and buffers: with `tie_weights` also under the other names of those that are shared."""
    given = parameter_and_buffer_dicts
    values = given if isinstance(given, dict) else _merged(given)
    if tie_weights:
        values = _tied(module, values)
    if strict:
        _check_names(module, values)
    replaced: list[tuple[dict, str, Any]] = []
    try:
        for name, value in values.items():
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            place = owner._parameters if last in owner._parameters else owner._buffers
            replaced.append((place, last, place[last]))
            place[last] = value
        inputs = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*inputs, **(kwargs or {}))
    finally:
        for place, last, value in reversed(replaced):
            place[last] = value


def _members(module: Any) -> Any:
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def _tied(module: Any, values: dict) -> dict:
    """Adds the other names of members that have several."""
    names: dict[int, list[str]] = {}
    for name, member in _members(module):
        names.setdefault(id(member), []).append(name)
    tied = dict(values)
    for group in names.values():
        given = [name for name in group if name in values]
        if any(values[name] is not values[given[0]] for name in given):
            raise ValueError(f"functional_call(): got multiple values for keys {sorted(given)}, which are tied; pass tie_weights=False")
        if given:
            tied.update(dict.fromkeys(group, values[given[0]]))
    return tied


def _check_names(module: Any, values: dict) -> None:
    known = {name for name, _ in _members(module)}
    unexpected, missing = sorted(values.keys() - known), sorted(known - values.keys())
    texts = [f"{what} key(s): {', '.join(map(repr, some))}." for what, some in (("Unexpected", unexpected), ("Missing", missing)) if some]
    if texts:
        raise RuntimeError("functional_call(): " + " ".join(texts))


def _merged(given: Any) -> dict:
    merged: dict = {}
    for one in given:
        twice = sorted(merged.keys() & one.keys())
        if twice:
            raise ValueError(f"functional_call(): {twice} appeared in multiple dictionaries")
        merged.update(one)
    return merged


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Makes the layers of batch normalization in a module forget their running statistics, which vmap cannot update."""
    for one in root.modules():
        if isinstance(getattr(one, "running_mean", None), Tensor) and getattr(one, "track_running_stats", False):
            one.running_mean = one.running_var = one.num_batches_tracked = None
            one.track_running_stats = False
    return root


def stack_module_state(models: Any) -> tuple[dict, dict]:
    """The parameters and buffers of several models, stacked."""
    from ._functions import find

    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state(): expected at least one model, got none")
    if len({one.training for one in models}) > 1 or len(set(map(type, models))) > 1:
        raise RuntimeError("stack_module_state(): expected models of one class, all of them training or none")

    stack = find("stack")
    assert stack is not None
    params = [dict(one.named_parameters()) for one in models]
    buffers = [dict(one.named_buffers()) for one in models]
    if any(len({one[k].requires_grad for one in params}) > 1 for k in params[0]):
        raise RuntimeError("stack_module_state(): expected the same requires_grad of a parameter in all models")
    made = {k: stack([one[k] for one in params]).detach().requires_grad_() for k in params[0]}
    return made, {k: stack([one[k] for one in buffers]) for k in buffers[0]}


__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp", "vmap"]
__all__ += ["stack_module_state"]
