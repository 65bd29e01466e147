"""state_dict() and load_state_dict() of modules."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .._modes import no_grad
from .._parameter import Parameter
from .._tensor import Tensor

_EXTRA = "_extra_state"


def _hooks(module: Any, kind: str) -> list:
    return [] if module._hooks is None else [entry[0] for entry in module._hooks.list(kind)]


def _has_extra_state(module: Any) -> bool:
    from .module import Module

    return type(module).get_extra_state is not Module.get_extra_state


def state_dict(module: Any, destination: Any, prefix: str, keep_vars: bool) -> OrderedDict:
    """The parameters and buffers of a module and its parts, by their dotted names."""
    found = OrderedDict() if destination is None else destination
    if not hasattr(found, "_metadata"):
        found._metadata = OrderedDict()
    found._metadata[prefix[:-1]] = local = {"version": module._version}
    for hook in _hooks(module, "state_pre"):
        hook(module, prefix, keep_vars)
    for name, param in module._parameters.items():
        if param is not None:
            found[prefix + name] = param if keep_vars else param.detach()
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            found[prefix + name] = buffer if keep_vars else buffer.detach()
    if _has_extra_state(module):
        found[prefix + _EXTRA] = module.get_extra_state()
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in _hooks(module, "state_post"):
        made = hook(module, found, prefix, local)
        found = found if made is None else made
    return found


def load_state_dict(module: Any, given: Any, strict: bool, assign: bool) -> tuple[list, list]:
    """Copies values into a module; returns the missing and the unexpected names."""
    if not hasattr(given, "items"):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(given)}.")
    state = OrderedDict(given)
    metadata = getattr(given, "_metadata", None) or {}
    missing: list[str] = []
    unexpected: list[str] = []
    errors: list[str] = []
    _load(module, state, "", metadata, (strict, assign), (missing, unexpected, errors))
    known = set(_names_in(module, ""))
    unexpected += [key for key in state if key not in known and key not in unexpected]
    for owner in module.modules():
        from .module import IncompatibleKeys

        for hook in _hooks(owner, "load_post"):
            hook(owner, IncompatibleKeys(missing, unexpected))
    if strict:
        if unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join(f'"{key}"' for key in unexpected) + ". ")
        if missing:
            errors.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{key}"' for key in missing) + ". ")
    if errors:
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t" + "\n\t".join(errors))
    return missing, unexpected


def _names_in(module: Any, prefix: str) -> list[str]:
    names = [prefix + name for name, one in module._parameters.items() if one is not None]
    names += [prefix + n for n, one in module._buffers.items() if one is not None and n not in module._non_persistent_buffers_set]
    if _has_extra_state(module):
        names.append(prefix + _EXTRA)
    for name, child in module._modules.items():
        if child is not None:
            names += _names_in(child, f"{prefix}{name}.")
    return names


def _load(module: Any, state: dict, prefix: str, metadata: dict, how: tuple, lists: tuple) -> None:
    strict, assign = how
    missing, unexpected, errors = lists
    local = metadata.get(prefix[:-1], {})
    for hook in _hooks(module, "load_pre"):
        hook(module, state, prefix, local, strict, missing, unexpected, errors)
    own = [(name, one, module._parameters) for name, one in module._parameters.items()]
    own += [(n, one, module._buffers) for n, one in module._buffers.items() if n not in module._non_persistent_buffers_set]
    for name, member, place in own:
        if member is None:
            continue
        key = prefix + name
        if key not in state:
            missing.append(key)
            continue
        _copy(module, place, name, key, state[key], assign, errors)
    if _has_extra_state(module):
        if prefix + _EXTRA in state:
            module.set_extra_state(state[prefix + _EXTRA])
        else:
            missing.append(prefix + _EXTRA)
    for name, child in module._modules.items():
        if child is not None:
            _load(child, state, f"{prefix}{name}.", metadata, how, lists)


def _has_no_shape(value: Any) -> bool:
    """True for the uninitialized members of lazy modules."""
    return "_settings" in getattr(value, "__dict__", ())


def _copy(module: Any, place: dict, name: str, key: str, value: Any, assign: bool, errors: list) -> None:
    member = place[name]
    if _has_no_shape(value):
        if not _has_no_shape(member):
            errors.append(f"{key} has no shape yet: the shape of an uninitialized parameter cannot be loaded into one that has a shape.")
        return
    if not isinstance(value, Tensor):
        errors.append(f"{key}: expected a tensor from the checkpoint, got a {type(value).__name__}")
        return
    if value.shape != member.shape:
        errors.append(
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {member.shape}."
        )
        return
    if assign:
        if isinstance(member, Parameter) and not isinstance(value, Parameter):
            value = Parameter(value, member.requires_grad)
        place[name] = value
        return
    with no_grad():
        member.copy_(value)
