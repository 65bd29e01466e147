"""PyTorch on one thread for ../libraries/torch.mjs. Reads one JSON command per line from standard input and writes one
answer per line to standard output. Arrays are { "f32": base64 } or { "u8": base64 }."""

import base64
import json
import os
import sys
import time

import torch
import torch.nn.functional as F

from layers import OPS
from models import MODELS

BLAS = "/usr/lib/x86_64-linux-gnu/libblas.so.3"
OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
DTYPES = {"f32": torch.float32, "u8": torch.uint8}

training = {}


def describe(_):
    blas = os.path.basename(os.path.dirname(os.path.realpath(BLAS))) if os.path.exists(BLAS) else ""
    return {"version": torch.__version__, "blas": blas}


def op_of(name, sizes, is_with_backward):
    run, leaves = OPS[name](sizes)

    def forward():
        with torch.no_grad():
            run()

    def both():
        run().sum().backward()
        for leaf in leaves:
            leaf.grad = None

    return both if is_with_backward else forward


def time_of(command):
    """Returns the time in ms of the fastest run; runs are repeated for command["ms"]."""
    run = op_of(command["op"], command["sizes"], command["isWithBackward"])
    run()
    best = float("inf")
    start = now = time.perf_counter()
    while (now - start) * 1e3 < command["ms"]:
        before = now
        run()
        now = time.perf_counter()
        best = min(best, now - before)
    return {"best": best * 1e3}


def start(command):
    start_model, inputs = MODELS[command["model"]]
    model = start_model(command["layers"])
    rule = command["optimizer"]
    training["model"] = model
    training["optimizer"] = OPTIMIZERS[rule["name"]](model.parameters(), lr=rule["rate"])
    training["batches"] = [inputs(batch) for batch in command["batches"]]
    return {}


def steps(command):
    model, optimizer, batches = (training[name] for name in ("model", "optimizer", "batches"))
    for i in range(command["first"], command["first"] + command["count"]):
        x, y = batches[i % len(batches)]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    return {"loss": loss.item()}


def with_arrays(value):
    for name, dtype in DTYPES.items():
        if name in value:
            return torch.frombuffer(bytearray(base64.b64decode(value[name])), dtype=dtype)
    return value


COMMANDS = {"describe": describe, "timeOf": time_of, "start": start, "steps": steps}

torch.set_num_threads(1)
torch.set_num_interop_threads(1)
for line in sys.stdin:
    command = json.loads(line, object_hook=with_arrays)
    print(json.dumps(COMMANDS[command["do"]](command)), flush=True)
