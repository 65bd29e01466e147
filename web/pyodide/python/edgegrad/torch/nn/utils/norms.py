"""torch.nn.utils.weight_norm and spectral_norm: the older forms, which compute a weight in a hook before each call."""

from __future__ import annotations

import warnings
from typing import Any

from ..._modes import no_grad
from ..._parameter import Parameter
from ..._tensor import Tensor
from .. import functional as F
from ..module import Module
from .parametrizations import norm_of_slices


class _Hook:
    """What computes the weight `name`; the last of its kind on a module that may have several."""

    name: str

    @classmethod
    def of(cls, module: Module, name: str) -> tuple[int, Any]:
        for key, hook in module._forward_pre_hooks.items():
            if isinstance(hook, cls) and hook.name == name:
                return key, hook
        raise ValueError(f"{cls.__name__} of '{name}' not found in {module}")

    @classmethod
    def check_first(cls, module: Module, name: str) -> None:
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, cls) and hook.name == name:
                raise RuntimeError(f"cannot register two {cls.title} hooks on the same parameter {name}")

    title = ""


class WeightNorm(_Hook):
    """A direction and its norms."""

    title = "weight_norm"

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        direction = getattr(module, self.name + "_v")
        return direction * (getattr(module, self.name + "_g") / norm_of_slices(direction, self.dim))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learns a weight as a direction and norms; torch.nn.utils.parametrizations.weight_norm is the newer form."""
    warnings.warn("torch.nn.utils.weight_norm is deprecated: use torch.nn.utils.parametrizations.weight_norm", FutureWarning, stacklevel=2)
    WeightNorm.check_first(module, name)
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    if not isinstance(weight, Parameter):
        raise ValueError(f"weight_norm(): '{name}' is no parameter that has a shape")
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_of_slices(weight.detach(), hook.dim)))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Makes the weight a parameter again."""
    key, hook = WeightNorm.of(module, name)
    weight = hook.compute_weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"], module._forward_pre_hooks[key]
    setattr(module, name, Parameter(weight.detach()))
    return module


class SpectralNorm(_Hook):
    """A weight divided by its largest singular value, which power iterations estimate."""

    title = "spectral_norm"

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm(): n_power_iterations: expected a positive number, got {n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.mT @ u, dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix @ v, dim=0, eps=self.eps))
                # The vectors change in place at the next call.
                u, v = u.clone(), v.clone()
        return weight / (u @ (matrix @ v))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    # In the first version of a state dict the weight was a buffer, and there was no v.
    def convert(self, module: Module, state: dict, prefix: str, local: dict, strict: bool, missing: list, *rest: Any) -> None:
        key = prefix + self.name
        version = local.get("spectral_norm", {}).get(self.name + ".version")
        if version is not None and version >= 1:
            return
        names = ("_orig", "_v", "_u")
        if version is None and all(key + name in state for name in names) and key not in state:
            return
        has_all = True
        for name in ("_orig", "", "_u"):
            if key + name not in state:
                has_all = False
                if strict:
                    missing.append(key + name)
        if not has_all:
            return
        weight = state.pop(key)
        with no_grad():
            matrix, u = self.matrix(state[key + "_orig"]), state[key + "_u"]
            sigma = (state[key + "_orig"] / weight).mean()
            # v is the solution for which u, the matrix and v give the singular value of the weight that was saved.
            v = (matrix.mT @ matrix).pinverse() @ (matrix.mT @ u)
            state[key + "_v"] = v * (sigma / (u @ (matrix @ v)))

    def mark(self, module: Module, state: dict, prefix: str, local: dict) -> None:
        local.setdefault("spectral_norm", {})[self.name + ".version"] = 1


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divides a weight by its largest singular value; torch.nn.utils.parametrizations.spectral_norm is the newer form."""
    SpectralNorm.check_first(module, name)
    hook = SpectralNorm(name, n_power_iterations, (1 if getattr(module, "transposed", False) else 0) if dim is None else dim, eps)
    weight = getattr(module, name, None)
    if not isinstance(weight, Parameter):
        raise ValueError(f"spectral_norm(): '{name}' is no parameter that has a shape")
    matrix = hook.matrix(weight.detach())
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    # A plain attribute, so that what reads the weight before the first call finds one.
    setattr(module, name, weight.detach())
    for place, size in zip(("_u", "_v"), matrix.shape):
        module.register_buffer(name + place, F.normalize(matrix.new_empty(size).normal_(), dim=0, eps=eps))
    module.register_forward_pre_hook(hook)
    module.register_state_dict_post_hook(hook.mark)
    module.register_load_state_dict_pre_hook(hook.convert)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Makes the weight a parameter again."""
    key, hook = SpectralNorm.of(module, name)
    with no_grad():
        weight = hook.compute_weight(module, False)
    delattr(module, name)
    del module._buffers[name + "_u"], module._buffers[name + "_v"], module._parameters[name + "_orig"], module._forward_pre_hooks[key]
    for place, method in ((module._state_dict_hooks, hook.mark), (module._load_state_dict_pre_hooks, hook.convert)):
        for key, one in list(place.items()):
            if one == method:
                del place[key]
    module.register_parameter(name, Parameter(weight.detach()))
    return module
