"""Checkpoints of a model whose parameters have other names, and another order, on the other side.

    python3 names.py IN.pt OUT.pt --names names.json [--back]

names.json has the name of each layer here under its name there. A checkpoint is a dict with `model`, a state dict, `parameters`, the names of the
parameters in their order, and `optimizer`.
"""

import argparse
import json

import torch


def renamed(key, names):
    """Returns a key whose longest beginning that `names` has is replaced."""
    parts = key.split(".")
    for end in range(len(parts), 0, -1):
        prefix = ".".join(parts[:end])
        if prefix in names:
            return ".".join([names[prefix], *parts[end:]])
    raise KeyError(f"no name for {key}; there are {', '.join(names)}")


def convert_state(state, names):
    """Returns a state dict under other names."""
    result = {renamed(key, names): value for key, value in state.items()}
    if len(result) != len(state):
        raise ValueError("two keys get the same name")
    return result


def convert_optimizer(state, parameters, order):
    """Returns an optimizer's state dict for parameters in another order; both are lists of the same names."""
    if sorted(parameters) != sorted(order):
        raise ValueError(f"the parameters are {parameters} here and {order} there")
    place = {i: order.index(name) for i, name in enumerate(parameters)}
    groups = [{**group, "params": sorted(place[i] for i in group["params"])} for group in state["param_groups"]]
    return {"state": {place[i]: one for i, one in state["state"].items()}, "param_groups": groups}


def convert_checkpoint(checkpoint, names, order=None):
    """Returns a checkpoint under other names, for parameters in the order of `order` (names after the change; default the same order)."""
    parameters = [renamed(name, names) for name in checkpoint["parameters"]]
    order = order or parameters
    return {
        **checkpoint,
        "model": convert_state(checkpoint["model"], names),
        "parameters": order,
        "optimizer": convert_optimizer(checkpoint["optimizer"], parameters, order),
    }


def inverse(names):
    """Returns the names for the way back."""
    result = {theirs: ours for ours, theirs in names.items()}
    if len(result) != len(names):
        raise ValueError("two layers have the same name")
    return result


def load_names(file):
    """Reads a file of names."""
    with open(file, encoding="utf-8") as text:
        return json.load(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("output")
    parser.add_argument("--names", required=True)
    parser.add_argument("--back", action="store_true")
    arguments = parser.parse_args()
    names = load_names(arguments.names)
    names = inverse(names) if arguments.back else names
    torch.save(convert_checkpoint(torch.load(arguments.input), names), arguments.output)
