"""torch.nn.utils.prune: setting elements of parameters to zero."""

from __future__ import annotations

import numbers
from typing import Any, Iterable

from ..._functions import find as _find
from ..._modes import no_grad
from ..._tensor import Tensor
from ..module import Module


def _function(name: str) -> Any:
    found = _find(name)
    assert found is not None
    return found


class BasePruningMethod:
    """The base of pruning methods: before each forward, a parameter's place has the learned tensor times a mask."""

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of a tensor, 0 for elements to prune; `default_mask` has zeros for those that are pruned already."""
        raise NotImplementedError(f"{type(self).__name__} has no compute_mask()")

    def apply_mask(self, module: Module) -> Tensor:
        """The learned tensor of a module times its mask."""
        name = self._tensor_name
        mask, original = getattr(module, name + "_mask"), getattr(module, name + "_orig")
        return mask.to(dtype=original.dtype) * original

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A tensor with pruned elements set to 0; the method ranks `importance_scores` instead of the tensor if given."""
        scores = _scores(t, importance_scores)
        given = _function("ones_like")(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=given).to(dtype=t.dtype)

    def remove(self, module: Module) -> None:
        """Makes the pruning permanent: the parameter is a plain one with zeros."""
        name = self._tensor_name
        original = module._parameters[name + "_orig"]
        assert original is not None
        with no_grad():
            original.copy_(self.apply_mask(module))
        delattr(module, name)
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, original)

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **keywords: Any) -> Any:
        """Prunes a module's parameter by a new method with these arguments, after those that prune it already; returns the method."""
        method: Any = cls(*args, **keywords)
        method._tensor_name = name
        before = _method_of(module, name)
        tensor = getattr(module, name)
        scores = _scores(tensor, importance_scores)
        mask = _function("ones_like")(tensor) if before is None else getattr(module, name + "_mask").detach().clone()
        if before is not None:
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
        with no_grad():
            mask = method.compute_mask(scores, default_mask=mask)
        if before is None:
            original = module._parameters.pop(name, None)
            if original is None:
                raise AttributeError(f"{type(module).__name__} has no parameter '{name}' to prune")
            module.register_parameter(name + "_orig", original)
        else:
            module._forward_pre_hooks.pop(_key_of(module, name))
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method


class PruningContainer(BasePruningMethod):
    """Several methods that prune one parameter, in their order."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple = ()
        if len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
            return
        for method in args[0] if len(args) == 1 else args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        own = getattr(self, "_tensor_name", None)
        if method is not None and own is not None and own != getattr(method, "_tensor_name", None):
            raise ValueError(f"a method for '{getattr(method, '_tensor_name', None)}' cannot be added to a container for '{own}'")
        self._pruning_methods += (method,)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            place: Any = mask == 1
        elif method.PRUNING_TYPE == "structured":
            axis = method.dim % t.dim()
            others = [dim for dim in range(t.dim()) if dim != axis]
            left = (mask.sum(dim=others) if others else mask) != 0
            place = (slice(None),) * axis + (left,)
        elif method.PRUNING_TYPE == "global":
            place = (slice(None),) * t.dim()
        else:
            raise ValueError(f"PRUNING_TYPE: expected 'unstructured', 'structured' or 'global', got {method.PRUNING_TYPE!r}")
        made = mask.clone()
        made[place] = method.compute_mask(t[place], default_mask=mask[place]).to(dtype=mask.dtype)
        return made

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, place: Any) -> Any:
        return self._pruning_methods[place]


class Identity(BasePruningMethod):
    """Prunes nothing: only prepares a parameter."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _OfAmount(BasePruningMethod):
    """A method with an amount: a number of units, or a fraction of them."""

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return count


class RandomUnstructured(_OfAmount):
    """Prunes random elements."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without(_function("rand_like")(t), default_mask, self._count(t.numel()))


class L1Unstructured(_OfAmount):
    """Prunes the elements with the smallest absolute values."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without(t.abs(), default_mask, self._count(t.numel()))


class _OfSlices(_OfAmount):
    PRUNING_TYPE = "structured"
    dim: int

    def _mask(self, norms: Tensor, t: Tensor, default_mask: Tensor) -> Tensor:
        made = _without(norms, _function("ones_like")(norms), self._count(t.shape[self.dim]))
        shape = [1] * t.dim()
        shape[self.dim] = -1
        return default_mask * made.reshape(shape).to(dtype=default_mask.dtype)

    def _check(self, t: Tensor) -> None:
        if t.dim() <= 1:
            raise ValueError(f"structured pruning needs a tensor of at least 2 dimensions, got shape {t.shape}")
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"dim {self.dim} is out of range for shape {t.shape}")


class RandomStructured(_OfSlices):
    """Prunes random slices along a dimension."""

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        self._check(t)
        return self._mask(_function("rand")(t.shape[self.dim]), t, default_mask)


class LnStructured(_OfSlices):
    """Prunes the slices along a dimension with the smallest n-norms."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        self._check(t)
        axis = self.dim % t.dim()
        norms = _function("norm")(t, p=self.n, dim=[dim for dim in range(t.dim()) if dim != axis])
        return self._mask(norms, t, default_mask)


class CustomFromMask(BasePruningMethod):
    """Prunes the elements for which a mask has zeros."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module: Module, name: str) -> Module:
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None) -> Module:
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: dict | None = None, **keywords: Any) -> None:
    """Prunes several parameters, pairs of a module and a name, as if they were one."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters: expected an iterable of pairs of a module and a name")
    pairs, given = list(parameters), importance_scores or {}
    if not isinstance(given, dict):
        raise TypeError("global_unstructured(): importance_scores: expected a dictionary")
    method = pruning_method(**keywords)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f"global_unstructured(): expected a method of the type 'unstructured', got '{method.PRUNING_TYPE}'")
    tensors = [getattr(module, name) for module, name in pairs]
    scores = [given.get(pair, tensor) for pair, tensor in zip(pairs, tensors)]
    ones_like, cat = _function("ones_like"), _function("cat")
    masks = [getattr(module, name + "_mask", None) for module, name in pairs]
    before = [ones_like(tensor) if mask is None else mask for tensor, mask in zip(tensors, masks)]
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    with no_grad():
        joined = container.compute_mask(*[cat([one.detach().reshape(-1) for one in some]) for some in (scores, before)])
    start = 0
    for (module, name), tensor in zip(pairs, tensors):
        custom_from_mask(module, name, joined[start : start + tensor.numel()].view_as(tensor))
        start += tensor.numel()


def remove(module: Module, name: str) -> Module:
    """Makes the pruning of a parameter permanent."""
    method = _method_of(module, name)
    if method is None:
        raise ValueError(f"parameter '{name}' of {type(module).__name__} has to be pruned before the pruning can be removed")
    method.remove(module)
    module._forward_pre_hooks.pop(_key_of(module, name))
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of a module or of its parts is pruned."""
    return any(isinstance(hook, BasePruningMethod) for part in module.modules() for hook in part._forward_pre_hooks.values())


def _key_of(module: Module, name: str) -> int | None:
    found = [k for k, hook in module._forward_pre_hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    return found[0] if found else None


def _method_of(module: Module, name: str) -> Any:
    key = _key_of(module, name)
    return None if key is None else module._forward_pre_hooks[key]


def _scores(t: Tensor, importance_scores: Tensor | None) -> Tensor:
    if importance_scores is None:
        return t
    if not isinstance(importance_scores, Tensor):
        raise TypeError("importance_scores: expected a tensor")
    if importance_scores.shape != t.shape:
        raise AssertionError(f"importance_scores: expected the shape {t.shape} of what is pruned, got {importance_scores.shape}")
    return importance_scores


def _without(ranked: Tensor, mask: Tensor, count: int) -> Tensor:
    """A copy of a mask with zeros for the `count` smallest of the ranked elements."""
    made = mask.clone()
    if count > 0:
        made.view(-1)[_function("topk")(ranked.reshape(-1), k=count, largest=False).indices] = 0
    return made


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"amount: expected a number, got {amount!r}")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and float(amount) > 1):
        raise ValueError(f"amount: expected a fraction from 0 to 1 or a number of units, got {amount}")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount: {amount} units are more than the {tensor_size} that there are")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)
