"""Names of PyTorch whose names in edgegrad are not just the same in camel case, and the fields of several results."""

from __future__ import annotations

from typing import Any

# Methods and functions, by PyTorch's name.
ALIASES = {
    "absolute_": "abs_",
    "arccos_": "acos_",
    "arccosh_": "acosh_",
    "arcsin_": "asin_",
    "arcsinh_": "asinh_",
    "arctan": "atan",
    "arctan_": "atan_",
    "arctan2_": "atan2_",
    "arctanh_": "atanh_",
    "chain_matmul": "multiDot",
    "clip": "clamp",
    "clip_": "clamp_",
    "concat": "cat",
    "conj_physical": "conj",
    "concatenate": "cat",
    "divide_": "div_",
    "fix_": "trunc_",
    "ger": "outer",
    "greater_": "gt_",
    "greater_equal_": "ge_",
    "less_": "lt_",
    "less_equal_": "le_",
    "linalg_norm": "norm",
    "multiply_": "mul_",
    "negative_": "neg_",
    "not_equal_": "ne_",
    "positive": "clone",
    "reshape_as": "viewAs",
    "row_stack": "vstack",
    "special_expit": "sigmoid",
    "subtract_": "sub_",
    "swapdims_": "swapaxes_",
    "true_divide_": "div_",
    "unsafe_chunk": "chunk",
}

# Methods of PyTorch's tensors that edgegrad lacks. Any other unknown name is an AttributeError, as in PyTorch.
MISSING_METHODS = {
    "align_to",
    "sparse_resize_",
    "sparse_resize_and_clear_",
    "_to_sparse",
    "_to_dense",
    "as_strided_",
    "conj_physical_",
    "dequantize",
    "geqrf",
    "int_repr",
    "is_pinned",
    "is_shared",
    "module_load",
    "nonzero_static",
    "ormqr",
    "orgqr",
    "pin_memory",
    "q_scale",
    "qscheme",
    "record_stream",
    "refine_names",
    "rename",
    "resize",
    "resize_as_",
    "share_memory_",
    "smm",
    "sspaddmm",
    "to_mkldnn",
    "to_padded_tensor",
    "triangular_solve",
}

# Functions that take a Python number among their operands, where a whole float has to stay a float.
TAKES_SCALARS = {
    "add",
    "addcdiv",
    "addcmul",
    "atan2",
    "clamp",
    "copysign",
    "div",
    "divide",
    "eq",
    "floatPower",
    "floorDivide",
    "fmod",
    "ge",
    "gt",
    "heaviside",
    "hypot",
    "le",
    "lerp",
    "lt",
    "maskedFill",
    "mul",
    "multiply",
    "ne",
    "pow",
    "remainder",
    "rsub",
    "sub",
    "subtract",
    "trueDivide",
    "where",
    "xlogy",
}

_VALUES = ("values", "indices")
_FIELDS = {
    "aminmax": ("min", "max"),
    "choleskyEx": ("L", "info"),
    "cummax": _VALUES,
    "cummin": _VALUES,
    "eig": ("eigenvalues", "eigenvectors"),
    "eigh": ("eigenvalues", "eigenvectors"),
    "frexp": ("mantissa", "exponent"),
    "invEx": ("inverse", "info"),
    "kthvalue": _VALUES,
    "lstsq": ("solution", "residuals", "rank", "singular_values"),
    "lu": ("P", "L", "U"),
    "luFactor": ("LU", "pivots"),
    "luFactorEx": ("LU", "pivots", "info"),
    "max": _VALUES,
    "median": _VALUES,
    "min": _VALUES,
    "mode": _VALUES,
    "nanmedian": _VALUES,
    "qr": ("Q", "R"),
    "slogdet": ("sign", "logabsdet"),
    "solveEx": ("result", "info"),
    "sort": _VALUES,
    "svd": ("U", "S", "Vh"),
    "topk": _VALUES,
}
_types: dict[tuple, type] = {}


def tuple_with(name: str, fields: tuple[str, ...]) -> type:
    """Returns the class of tuples whose elements have these names."""
    made = _types.get((name, fields))
    if made is None:
        members: dict[str, Any] = {
            field: property(lambda self, at=at: self[at]) for at, field in enumerate(fields)
        }
        made = type(name, (tuple,), {**members, "_fields": fields})
        _types[(name, fields)] = made
    return made


def with_fields(name: str, result: Any) -> Any:
    """Returns several results of a function, with PyTorch's names."""
    fields = _FIELDS.get(name)
    if fields is None or not isinstance(result, tuple) or len(result) != len(fields):
        return result
    return tuple_with(name, fields)(result)
