"""torch.func."""

from __future__ import annotations

import functools
from typing import Any, Callable

from . import _bridge as bridge
from ._bridge import camel, channel, decode, encode, function
from .nn.module import encode_keywords
from stubs import otherwise_missing


def _tree(value: Any) -> Any:
    """Returns a tree with lists for tuples, which JavaScript does not have."""
    if isinstance(value, (list, tuple)):
        return [_tree(one) for one in value]
    return {key: _tree(one) for key, one in value.items()} if isinstance(value, dict) else value


def _in_trees(func: Callable, keywords: dict = {}) -> Callable:
    return lambda *args: _tree(func(*args, **keywords))


_PARAMETERS = {
    "grad": ("argnums", "has_aux"),
    "gradAndValue": ("argnums", "has_aux"),
    "hessian": ("argnums",),
    "jacfwd": ("argnums", "has_aux", "randomness"),
    "jacrev": ("argnums", "has_aux", "chunk_size"),
    "vmap": ("in_dims", "out_dims", "randomness", "chunk_size"),
}


def _transform(name: str) -> Callable:
    def transform(func: Callable, *args: Any, **keywords: Any) -> Callable:
        given = {**dict(zip(_PARAMETERS[name], args)), **keywords}
        options = {key: _tree(value) for key, value in given.items() if value is not None}

        def call(*inputs: Any, **inner: Any) -> Any:
            transformed = function("func", name, [_in_trees(func, inner)], options)
            return bridge.call(transformed, [_tree(one) for one in inputs])

        return functools.wraps(func)(call) if hasattr(func, "__name__") else call

    return transform


grad, vmap, jacrev, jacfwd, hessian = map(_transform, ("grad", "vmap", "jacrev", "jacfwd", "hessian"))
grad_and_value = _transform("gradAndValue")


def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> Any:
    options = {"has_aux": True} if has_aux else {}
    output, pull, *aux = function("func", "vjp", [_in_trees(func), *map(_tree, primals)], options)

    def pulled(*cotangents: Any, **_: Any) -> Any:
        given = cotangents[0] if len(cotangents) == 1 else cotangents
        return bridge.call(pull, [_tree(given)])

    return (output, pulled, *aux)


def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    options = {name: True for name, given in (("strict", strict), ("has_aux", has_aux)) if given}
    return function("func", "jvp", [_in_trees(func), _tree(primals), _tree(tangents)], options)


def linearize(func: Callable, *primals: Any) -> Any:
    output, push = function("func", "linearize", [_in_trees(func), *map(_tree, primals)])
    return output, lambda *tangents: bridge.call(push, [_tree(one) for one in tangents])


def functional_call(module: Any, parameters: Any, args: Any = None, kwargs: Any = None, **keywords: Any) -> Any:
    state = list(parameters) if isinstance(parameters, (list, tuple)) else parameters
    given = [] if args is None else list(args) if isinstance(args, tuple) else [args]
    encoded = [encode(module), encode(state), encode(given), encode_keywords(module, kwargs)]
    options = [{"$d": [[camel(k), encode(x)] for k, x in keywords.items()]}] if keywords else []
    message = {"t": "call", "p": "func", "n": "functionalCall", "a": [*encoded, *options]}
    return decode(channel.request(message))


def replace_all_batch_norm_modules_(root: Any) -> Any:
    return function("func", "replaceAllBatchNormModules_", [root])


def stack_module_state(models: Any) -> Any:
    return function("func", "stackModuleState", [list(models)])


__getattr__ = otherwise_missing("torch.func")
