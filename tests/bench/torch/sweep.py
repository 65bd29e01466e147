"""The calls of ../sweep in PyTorch on one thread. Reads one JSON command per line from standard input and writes one
answer per line to standard output."""

import json
import re
import sys
import time
import warnings

import torch
import torch.nn.functional as F

import blas

warnings.filterwarnings("ignore")

PLACES = [F, torch, torch.special, torch.linalg]


def normal(spec):
    return torch.randn(*spec["shape"])


def uniform(spec):
    return torch.rand(*spec["shape"]) * (spec["high"] - spec["low"]) + spec["low"]


def integer(spec):
    return torch.randint(spec.get("low", 0), spec["high"], spec["shape"])


def definite(spec):
    x = torch.randn(*spec["shape"])
    return x @ x.mT / spec["shape"][-1] + torch.eye(spec["shape"][-1])


def triangular(spec):
    side = spec["shape"][-1]
    return torch.randn(*spec["shape"]).tril() / side + 2 * torch.eye(side)


OPERANDS = {
    "normal": normal,
    "uniform": uniform,
    "integer": integer,
    "bool": lambda spec: torch.rand(*spec["shape"]) < 0.5,
    "complex": lambda spec: torch.randn(*spec["shape"], dtype=torch.complex64),
    "definite": definite,
    "triangular": triangular,
    "range": lambda spec: torch.arange(spec["count"], dtype=torch.float32),
    "pivots": lambda spec: torch.arange(1, spec["count"] + 1, dtype=torch.int32),
}


def made(value, leaves, is_differentiated):
    if isinstance(value, list):
        return [made(one, leaves, is_differentiated) for one in value]
    if not isinstance(value, dict):
        return value
    tensor = OPERANDS[value["kind"]](value)
    if is_differentiated and (tensor.is_floating_point() or tensor.is_complex()):
        leaves.append(tensor.requires_grad_())
    return tensor


def found(path):
    """Returns torch.<path>, or the function of that name in one of the usual modules."""
    parts = path.split(".")
    if len(parts) > 1:
        place = torch
        for part in parts:
            place = getattr(place, part)
        return place
    return next(getattr(place, path) for place in PLACES if hasattr(place, path))


def snake(options):
    return {re.sub("[A-Z]", lambda m: "_" + m.group().lower(), key): value for key, value in options.items()}


def call_of(case, is_differentiated):
    leaves = []
    args = case["args"]
    options = case["options"]
    if args and isinstance(args[-1], dict) and "kind" not in args[-1]:
        args, options = args[:-1], args[-1]
    args = [made(arg, leaves, is_differentiated) for arg in args]
    for i in case["views"]:
        args[i] = args[i].t()
    function = found(case["theirs"])
    options = snake(options)
    return lambda: function(*args, **options), leaves


def first_differentiable(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    return next((one for one in results if isinstance(one, torch.Tensor) and one.requires_grad), None)


def with_gradient(case):
    call, leaves = call_of(case, True)
    if not leaves:
        return None
    sample = first_differentiable(call())
    if sample is None:
        return None
    ones = torch.ones_like(sample)

    def both():
        y = first_differentiable(call())
        torch.autograd.grad(y, leaves, ones, allow_unused=True)

    both()
    return both


def first_line(error):
    return f"{type(error).__name__}: {error}".split("\n")[0]


def prepare(command):
    case = command["case"]
    state.clear()
    try:
        call, _ = call_of(case, False)
        call()

        def forward():
            with torch.no_grad():
                call()

        state["forward"] = forward
    except Exception as error:  # any exception is reported as the answer
        return {"error": first_line(error)}
    if case["isForwardOnly"]:
        return {"isDifferentiable": False}
    try:
        state["both"] = with_gradient(case)
    except Exception as error:
        return {"isDifferentiable": False, "why": first_line(error)}
    return {"isDifferentiable": state["both"] is not None}


def time_of(command):
    """Returns the time in ms of the fastest run; runs are repeated for command["ms"]."""
    run = state[command["part"]]
    best = float("inf")
    start = now = time.perf_counter()
    while (now - start) * 1e3 < command["ms"]:
        before = now
        run()
        now = time.perf_counter()
        best = min(best, now - before)
    return {"best": best * 1e3}


def describe(_):
    return {"version": torch.__version__, "blas": blas.describe()}


state = {}
COMMANDS = {"describe": describe, "prepare": prepare, "timeOf": time_of}

torch.set_num_threads(1)
torch.set_num_interop_threads(1)
for line in sys.stdin:
    command = json.loads(line)
    print(json.dumps(COMMANDS[command["do"]](command)), flush=True)
