"""Functions of torch whose arguments differ from JavaScript's, and how all others are found."""

from __future__ import annotations

import builtins
import functools
import types
from typing import Any, Callable

from ._bridge import with_tensors_in_tuples
from ._calls import camel, function, js_name, names_of, snake
from ._declared import declared_function
from ._creation import LEGACY, get_default_dtype, tensor, zeros
from ._tensor import Tensor
from ._types import Size, bool_, check_format, device as device_, dtype

dtypes = dtype.all


def find(name: str) -> Callable | None:
    """Returns a function of torch by its name, or None if edgegrad has none."""
    own = globals().get(name)
    if callable(own) and getattr(own, "__module__", "") == __name__ and not name.startswith("_") and name != "find":
        return own
    js = js_name(name)
    found = declared_function("", js)
    if found is not None:
        return found
    for space in ("linalg", "special", "fft", "nn.functional"):
        prefix = space.rpartition(".")[2] + "_"
        if name.startswith(prefix):
            found = declared_function(space, camel(name.removeprefix(prefix)))
            if found is not None:
                return found
    if js in names_of("Tensor"):
        return _of_method(name)
    return None


def _of_method(name: str) -> Callable:
    def call(input: Tensor, *args: Any, **keywords: Any) -> Any:
        return getattr(input, name)(*args, **keywords)

    return call


def _listed(tensors: tuple) -> list:
    is_list = len(tensors) == 1 and isinstance(tensors[0], (list, tuple))
    return list(tensors[0] if is_list else tensors)


def _spread(name: str) -> Callable:
    """A function of any number of tensors, which JavaScript takes as a list."""

    def call(*tensors: Any, **keywords: Any) -> Any:
        return with_tensors_in_tuples(function("", name, [_listed(tensors)], keywords))

    call.__module__, call.__name__ = __name__, snake(name)
    return call


block_diag, broadcast_tensors = _spread("blockDiag"), _spread("broadcastTensors")
cartesian_prod, chain_matmul = _spread("cartesianProd"), _spread("multiDot")


def meshgrid(*tensors: Any, indexing: str = "ij") -> Any:
    return with_tensors_in_tuples(function("", "meshgrid", [_listed(tensors)], {"indexing": indexing}))


def _at_least(name: str) -> Callable:
    def call(*tensors: Any) -> Any:
        made = tuple(function("", name, [one]) for one in _listed(tensors))
        return made if isinstance(tensors[0], (list, tuple)) or len(made) > 1 else made[0]

    call.__module__ = __name__
    return call


atleast_1d, atleast_2d, atleast_3d = map(_at_least, ("atleast1d", "atleast2d", "atleast3d"))


def einsum(equation: str, *operands: Any) -> Tensor:
    if not isinstance(equation, str):
        raise NotImplementedError("einsum(): edgegrad takes an equation, not sublists")
    return function("", "einsum", [equation, *_listed(operands)])


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    found = with_tensors_in_tuples(function("", "nonzero", [input], {"asTuple": True} if as_tuple else None))
    return found


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        is_float = isinstance(input, float) or isinstance(other, float)
        kind = get_default_dtype() if is_float else None
        input, other = tensor(input, dtype=kind, device=condition.device), tensor(other, dtype=kind, device=condition.device)
    elif isinstance(input, Tensor):
        other = _operand(other, input)
    else:
        input = _operand(input, other)
    return function("", "where", [condition, input, other])


def _operand(value: Any, beside: Tensor) -> Any:
    """A float beside integers is a tensor, because JavaScript has no 2.0."""
    if isinstance(value, float) and beside.dtype.kind in "ib":
        return tensor(value, device=beside.device)
    return value


def _with_unbiased(name: str) -> Callable:
    """A function in which PyTorch has `unbiased` by position, too, where it is a boolean."""

    def call(input: Tensor, *args: Any, **keywords: Any) -> Any:
        given = list(args)
        for place in range(min(2, len(given))):
            if isinstance(given[place], builtins.bool):
                keywords["unbiased"] = given.pop(place)
                if place == 1 and len(given) > 1:
                    keywords["keepdim"] = given.pop(1)
                break
        return _declared(name)(input, *given, **keywords)

    call.__module__, call.__name__ = __name__, name
    return call


@functools.cache
def _declared(name: str) -> Any:
    return declared_function("", camel(name))


std, var, std_mean, var_mean = map(_with_unbiased, ("std", "var", "std_mean", "var_mean"))


def equal(input: Tensor, other: Tensor) -> bool:
    return function("", "equal", [input, other])


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    return function("", "allclose", [input, other], {"rtol": rtol, "atol": atol, "equalNan": equal_nan})


def clip(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    return input.clamp(min, max)


def concat(tensors: Any, dim: int = 0) -> Tensor:
    return function("", "cat", [list(tensors), dim])


concatenate = concat


def numel(input: Tensor) -> int:
    return input.numel()


def is_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    return input.dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    return input.dtype.is_complex


def is_nonzero(input: Tensor) -> bool:
    return bool(input)


def is_conj(input: Tensor) -> bool:
    return False


is_neg = is_storage = is_conj


def is_inference(input: Tensor) -> bool:
    return input.is_inference()


def resolve_conj(input: Tensor) -> Tensor:
    return input


resolve_neg = resolve_conj


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, *, out: Any = None) -> Any:
    """The compact factorization, with the numbers of faults if asked for."""
    call = declared_function("linalg", "luFactorEx" if get_infos else "luFactor")
    assert call is not None
    return call(A, pivot=pivot) if out is None else call(A, pivot=pivot, out=out)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:
    """PyTorch's older order of arguments."""
    call = declared_function("", "luSolve")
    assert call is not None
    return call(LU_data, LU_pivots, b) if out is None else call(LU_data, LU_pivots, b, out=out)


def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """On a tensor of the dtype that the result has, the only ones that PyTorch allows, it is pow_()."""
    is_complex = isinstance(exponent, complex) or (isinstance(exponent, Tensor) and exponent.dtype.is_complex)
    needed = "complex128" if is_complex or self.dtype.is_complex else "float64"
    if self.dtype.name != needed:
        raise RuntimeError(f"float_power_(): the result has dtype {needed}, and the tensor {self.dtype}")
    return self.pow_(exponent)


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of one dtype may be written into a tensor of another."""
    order = "bifc"
    if order.index(from_.kind) > order.index(to.kind):
        return False
    return not (from_.kind == to.kind == "i" and from_.is_signed and not to.is_signed)


_warns_always = [False]


def set_warn_always(b: bool) -> None:
    function("", "setWarnAlways", [bool(b)])
    _warns_always[0] = bool(b)


def is_warn_always_enabled() -> bool:
    return _warns_always[0]


def promote_types(type1: dtype, type2: dtype) -> dtype:
    return type1 if type1 is type2 else (zeros(0, dtype=type1) + zeros(0, dtype=type2)).dtype


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    first, second = (tensor1, tensor2) if isinstance(tensor1, Tensor) else (tensor2, tensor1)
    if not isinstance(first, Tensor):
        return tensor([first, second]).dtype
    if first.dtype is bool_ and isinstance(second, bool):
        return bool_
    return (_empty_like(first) + _empty_like(second)).dtype


def _empty_like(operand: Any) -> Any:
    if not isinstance(operand, Tensor):
        return operand
    return zeros(0, dtype=operand.dtype) if operand.ndim else zeros((), dtype=operand.dtype)


def _info(name: str, given: dtype) -> types.SimpleNamespace:
    found = function("", name, [given])
    return types.SimpleNamespace(**{**{snake(key): value for key, value in found.items()}, "dtype": given.name})


def finfo(type: dtype | None = None) -> types.SimpleNamespace:
    return _info("finfo", (type or get_default_dtype()).to_real())


def iinfo(type: dtype) -> types.SimpleNamespace:
    return _info("iinfo", type)


def broadcast_shapes(*shapes: Any) -> Size:
    return Size(function("", "broadcastShapes", [[n] if isinstance(n, builtins.int) else list(n) for n in shapes]))


def manual_seed(seed: int) -> Any:
    function("", "manualSeed", [int(seed)])
    from .random import default_generator

    return default_generator


def seed() -> int:
    return function("random", "seed")


def initial_seed() -> int:
    return function("random", "initialSeed")


def get_rng_state() -> Tensor:
    return function("random", "getState")


def set_rng_state(new_state: Tensor) -> None:
    function("random", "setState", [new_state])


def get_num_threads() -> int:
    from ._bridge import runtime

    return int(runtime().get("threads", 1))


def set_num_threads(count: int) -> None:
    if count == get_num_threads():
        return
    raise NotImplementedError("set_num_threads(): pass init={'threads': n} when the engine starts")


# The engine's algorithms are all deterministic.
_deterministic = [False, False]


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    _deterministic[:] = [mode, warn_only]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    return _deterministic[1]


def are_deterministic_algorithms_enabled() -> bool:
    return _deterministic[0]


def set_printoptions(**options: Any) -> None:
    raise NotImplementedError("set_printoptions(): edgegrad prints tensors in one way")


def compile(model: Any = None, **options: Any) -> Any:
    raise NotImplementedError("torch.compile(): use torch.capture(step, *inputs), which records a whole step once")


# Methods that convert. A method of edgegrad's `to` takes any of the targets.


def _to(
    self: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    check_format(memory_format)
    targets = []
    for one in (*args, dtype, device):
        if isinstance(one, builtins.bool) or one is None:
            continue
        targets.append(device_(one) if isinstance(one, str) else one)
    made = function("Tensor", "to", [self, *targets]) if targets else self
    return made.clone() if copy and made is self else made


def _conversion(target: dtype) -> Callable:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        check_format(memory_format)
        return self if self.dtype is target else function("Tensor", "to", [self, target])

    return convert


def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    if dtype is None:
        names = [name for name, kind in LEGACY.items() if kind == self.dtype.name]
        return f"torch.{names[0] if names else self.dtype.name.capitalize()}Tensor"
    if isinstance(dtype, str):
        dtype = dtypes[LEGACY[dtype.removeprefix("torch.").removesuffix("Tensor")]]
    return _to(self, getattr(dtype, "dtype", dtype))


def _cuda(self: Tensor, *_: Any, **__: Any) -> Any:
    raise RuntimeError("x.cuda(): there is no CUDA in a page; use x.to('webgpu') where edgegrad has a WebGPU device")


for _name, _target in (
    ("float", "float32"),
    ("double", "float64"),
    ("half", "float16"),
    ("bfloat16", "bfloat16"),
    ("long", "int64"),
    ("int", "int32"),
    ("short", "int16"),
    ("char", "int8"),
    ("byte", "uint8"),
    ("bool", "bool"),
    ("chalf", "complex32"),
    ("cfloat", "complex64"),
    ("cdouble", "complex128"),
):
    setattr(Tensor, _name, _conversion(dtype.all[_target]))
Tensor.to, Tensor.type, Tensor.cuda = _to, _type, _cuda
Tensor.cpu = lambda self, memory_format=None: _to(self, device_("cpu"))
Tensor.type_as = lambda self, other: _to(self, other.dtype)
Tensor.lu, Tensor.lu_solve, Tensor.float_power_ = lu, lu_solve, float_power_
Tensor.std, Tensor.var = std, var
Tensor.nonzero, Tensor.allclose, Tensor.equal, Tensor.clip = nonzero, allclose, equal, clip
Tensor.where = lambda self, condition, other: where(condition, self, other)


def _repeat(self: Tensor, *sizes: Any) -> Tensor:
    is_list = len(sizes) == 1 and isinstance(sizes[0], (list, tuple))
    return function("Tensor", "repeat", [self, list(sizes[0] if is_list else sizes)])


Tensor.repeat = _repeat
