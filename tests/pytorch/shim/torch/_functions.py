"""Functions of `torch` whose arguments or results differ from those in JavaScript, and how the others are found."""

from __future__ import annotations

import builtins
import types
from typing import Any, Callable

from . import _bridge as bridge
from ._bridge import Unsupported, function
from ._creation import dtype_of_data, get_default_dtype, tensor, zeros
from ._tensor import TAKES_SCALARS, Tensor, as_operand, as_tensor_like, js_name, with_fields
from ._types import bool_, dtype


def find_function(name: str) -> Callable | None:
    """Returns a function of `torch` by its name, or None if edgegrad has none."""
    js = js_name(name)
    for space in ("linalg", "special", "fft"):
        rest = js_name(name.removeprefix(f"{space}_"))
        if name.startswith(f"{space}_") and rest in bridge.names["spaces"][space]:
            return forward(space, rest)
    if js in bridge.names["root"]:
        return forward("", js)
    if js in bridge.names["tensor"] or hasattr(Tensor, name):
        return lambda input, *args, **keywords: getattr(input, name)(*args, **keywords)
    return None


# PyTorch's names of a first argument that edgegrad takes only by position.
_FIRST = ("input", "self", "tensors", "A")


def forward(path: str, js: str) -> Callable:
    """Returns a function of a namespace, as PyTorch calls it."""

    def call(*args: Any, **keywords: Any) -> Any:
        if not args:
            first = next((name for name in _FIRST if name in keywords), None)
            args = () if first is None else (keywords.pop(first),)
        like = next((one for one in args if isinstance(one, Tensor)), None)
        if like is not None and path == "" and js in TAKES_SCALARS:
            args = tuple(as_operand(like, one) for one in args)
            args = (as_tensor_like(args[0], like), *args[1:])
        if isinstance(keywords.get("alpha"), builtins.bool):
            keywords["alpha"] = int(keywords["alpha"])
        return with_fields(js, function(path, js, args, keywords))

    call.__name__ = js
    return call


def namespace(path: str) -> Callable:
    """Returns the `__getattr__` of a module such as torch.linalg."""
    import stubs

    def find(name: str) -> Any:
        if name == "__all__":
            return []
        if name.startswith("__"):
            raise AttributeError(name)
        js = js_name(name)
        if js in bridge.names["spaces"][path]:
            return forward(path, js)
        return stubs.missing(f"torch.{path}", name)

    return find


def spread(name: str) -> Callable:
    """A function of any number of tensors, which edgegrad takes as a list."""

    def call(*tensors: Any, **keywords: Any) -> Any:
        return function("", name, [_listed(tensors)], keywords)

    return call


def _listed(tensors: tuple) -> list:
    is_list = len(tensors) == 1 and isinstance(tensors[0], (list, tuple))
    return list(tensors[0] if is_list else tensors)


block_diag, broadcast_tensors = spread("blockDiag"), spread("broadcastTensors")
cartesian_prod, chain_matmul = spread("cartesianProd"), spread("multiDot")


def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    return function("", "meshgrid", [_listed(tensors)], {"indexing": indexing})


def _at_least(name: str) -> Callable:
    def call(*tensors: Any) -> Any:
        made = tuple(function("", name, [one]) for one in _listed(tensors))
        return made if isinstance(tensors[0], (list, tuple)) or len(made) > 1 else made[0]

    return call


atleast_1d, atleast_2d, atleast_3d = map(_at_least, ("atleast1d", "atleast2d", "atleast3d"))


def _as_method(name: str) -> Callable:
    return lambda input, *args, **keywords: getattr(input, name)(*args, **keywords)


split, svd, unbind, narrow = map(_as_method, ("split", "svd", "unbind", "narrow"))
std, var, std_mean, var_mean = map(_as_method, ("std", "var", "std_mean", "var_mean"))


def einsum(equation: Any, *operands: Any) -> Tensor:
    if not isinstance(equation, str):
        raise Unsupported("missing: einsum of sublists")
    return function("", "einsum", [equation, *_listed(operands)])


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    found = input.nonzero(as_tuple)
    return found if out is None else bridge.write_out(found, out)


def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    like = input if isinstance(input, Tensor) else other
    if isinstance(like, Tensor):
        operands = [as_operand(like, input), as_operand(like, other)]
    else:
        operands = [tensor(input), tensor(other)]
    return function("", "where", [condition, *operands], {"out": out})


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:
    return function("", "luSolve", [LU_data, LU_pivots, b], {"out": out})


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, *, out: Any = None) -> Any:
    return function("linalg", "luFactorEx" if get_infos else "luFactor", [A, pivot], {"out": out})


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """`compute_mode` chooses an implementation."""
    return function("", "cdist", [x1, x2, p])


def equal(input: Tensor, other: Tensor) -> bool:
    return function("", "equal", [input, other])


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype of the sum, without elements: edgegrad has no function for it."""
    if not isinstance(tensor1, Tensor) and not isinstance(tensor2, Tensor):
        return dtype_of_data([tensor1, tensor2])
    first, second = (tensor1, tensor2) if isinstance(tensor1, Tensor) else (tensor2, tensor1)
    if first.dtype is bool_ and isinstance(second, builtins.bool):
        return bool_
    return _empty(first).add(as_operand(first, _empty(second))).dtype


def _empty(operand: Any) -> Any:
    if not isinstance(operand, Tensor):
        return operand
    return operand.detach().reshape(-1)[:0] if operand.ndim else operand.detach()


def promote_types(type1: dtype, type2: dtype) -> dtype:
    return type1 if type1 is type2 else (zeros(0, dtype=type1) + zeros(0, dtype=type2)).dtype


def can_cast(from_: dtype, to: dtype) -> bool:
    order = "bifc"
    if order.index(from_.kind) > order.index(to.kind):
        return False
    return not (from_.kind == to.kind == "i" and from_.is_signed and not to.is_signed)


def _info(name: str, given: dtype | None) -> types.SimpleNamespace:
    given = given or get_default_dtype()
    found = function("", name, [given])
    members = {bridge.snake(key): value for key, value in found.items()}
    return types.SimpleNamespace(**{**members, "dtype": given.name})


def finfo(type: dtype | None = None) -> types.SimpleNamespace:
    return _info("finfo", type.to_real() if type else None)


def iinfo(type: dtype) -> types.SimpleNamespace:
    return _info("iinfo", type)


def is_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    return input.dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    return input.dtype.is_complex


def is_conj(input: Tensor) -> bool:
    return False


is_neg = is_storage = is_conj


def numel(input: Tensor) -> int:
    return input.numel()


def manual_seed(seed: int) -> None:
    function("", "manualSeed", [seed])


def seed() -> int:
    return function("random", "seed")


def initial_seed() -> int:
    return function("random", "initialSeed")


def get_rng_state() -> Any:
    return function("random", "getState")


def set_rng_state(new_state: Any) -> None:
    function("random", "setState", [new_state])


def get_num_threads() -> int:
    return 1


def set_num_threads(count: int) -> None:
    pass


def set_warn_always(value: bool) -> None:
    pass


def is_warn_always_enabled() -> bool:
    """Always on in the shim, where a warning that was given before would be missed by the next test."""
    return True


# edgegrad's algorithms are all deterministic.
_deterministic = [False, False]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    _deterministic[:] = [mode, warn_only]


def are_deterministic_algorithms_enabled() -> bool:
    return _deterministic[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    return _deterministic[1]


def is_anomaly_enabled() -> bool:
    raise Unsupported("missing: is_anomaly_enabled")


def set_printoptions(**_: Any) -> None:
    raise Unsupported("missing: set_printoptions")
