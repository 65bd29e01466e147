"""Values of PyTorch as JSON, for values.json and for tests/python."""

import math

import torch


def described(value):
    """Returns a value as JSON: what JSON lacks is an object with a key that begins with "$"."""
    if isinstance(value, torch.Tensor):
        flat = value.detach().reshape(-1)
        flat = torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat
        data = [described(one) for one in flat.double().tolist()]
        dtype = str(value.dtype).replace("torch.", "")
        return {"$tensor": dtype, "shape": list(value.shape), "strides": list(value.stride()), "data": data, "requiresGrad": value.requires_grad}
    if isinstance(value, (torch.dtype, torch.device)):
        return str(value).replace("torch.", "")
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"$bigint": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) and str(value) != "-0.0" else {"$number": str(value)}
    if isinstance(value, complex):
        return {"re": value.real, "im": value.imag}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": list(value)}
    if isinstance(value, (set, frozenset)):
        return {"$set": [described(one) for one in value]}
    if isinstance(value, (list, tuple)):
        return [described(one) for one in value]
    kinds = {type(key) for key in value}
    if len(kinds) > 1:
        return {"$map": [[described(key), described(one)] for key, one in value.items()]}
    return {str(key): described(one) for key, one in value.items()}
