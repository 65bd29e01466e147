"""torch.Tensor and what belongs to it."""

from . import conversions, layouts, operators
from .names import ALIASES, TAKES_SCALARS, with_fields
from .operators import as_tensor_like
from .tensor import LEGACY_TYPES, Buffer, Parameter, Tensor, UninitializedBuffer, UninitializedParameter
from .tensor import as_operand, js_name
