"""Writes the .pt files of this folder and values.json, which says what is in them.

Run it with PyTorch 1.13 or later:  python3 tests/golden/torch/write_files.py
"""

import collections
import json
import math
import pathlib

import torch

from description import described

FOLDER = pathlib.Path(__file__).parent


def training():
    """A model and its optimizer after one step."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 2), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.randn(3, 1, 2, 2)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}


def dtypes():
    names = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128"
    return {name: torch.tensor([1, 0, 3]).to(getattr(torch, name)) for name in names.split()}


def containers():
    text = "naïve 😀"
    shared = [1, 2]
    return {
        "list": [1, "a", None, True, False, 1.5],
        "tuple": (1, (2, 3)),
        "nested": {"a": {"b": [{"c": {}}]}},
        "ordered": collections.OrderedDict(b=1, a=2),
        "default": collections.defaultdict(list, a=[1]),
        "counter": collections.Counter("aab"),
        "size": torch.ones(2, 3).shape,
        "device": torch.device("cuda", 1),
        "dtype": torch.float16,
        "text": text,
        "bytes": bytes(range(250, 256)),
        "bytearray": bytearray(b"ab"),
        "set": {3},
        "frozenset": frozenset(["x"]),
        "complex": 1 - 2j,
        "numbers": {0: "zero", 7: "seven"},
        "mixed": {"a": 1, (1, 2): 2, None: 3},
        "__proto__": {"polluted": 1},
        "constructor": 1,
        "twice": [shared, shared],
    }


def numbers():
    return {
        "small": [0, 1, -1, 255, 256, 65535, 65536, -128, 2**31 - 1, -(2**31), 2**53 - 1],
        "large": [2**53, -(2**53), 2**63, -(2**63), 2**64 - 1, 10**40, -(10**400), 2**2048],
        "floats": [0.1, -0.0, math.inf, -math.inf, math.nan, 5e-324],
    }


def shared():
    base = torch.arange(12.0)
    return {
        "base": base,
        "tail": base[8:],
        "every": base[::3],
        "matrix": base.view(3, 4).t(),
        "row": base.view(3, 4)[1].expand(2, 4),
        "again": base,
        "scalar": base[5],
        "empty": base[12:].view(0, 3),
    }


def parameters():
    weight = torch.nn.Parameter(torch.tensor([[1.0, 2.0]]))
    frozen = torch.nn.Parameter(torch.tensor([3.0]), requires_grad=False)
    leaf = torch.tensor([4.0], requires_grad=True)
    return {"weight": weight, "frozen": frozen, "leaf": leaf, "result": leaf * 2, "tied": [weight, weight]}


def main():
    values = {}
    for make in (training, dtypes, containers, numbers, shared, parameters):
        value = make()
        for form in ("zip", "legacy"):
            name = make.__name__ if form == "zip" else f"{make.__name__}_legacy"
            torch.save(value, FOLDER / f"{name}.pt", _use_new_zipfile_serialization=form == "zip")
        values[make.__name__] = described(value)
    # The newer and older protocols have opcodes of their own.
    values["protocol"] = described(containers())
    torch.save(containers(), FOLDER / "protocol.pt", pickle_protocol=4)
    values["protocol_1"] = values["shared"]
    torch.save(shared(), FOLDER / "protocol_1.pt", pickle_protocol=1)
    torch.save(shared(), FOLDER / "protocol_1_legacy.pt", pickle_protocol=1, _use_new_zipfile_serialization=False)
    text = json.dumps(values, indent=1, ensure_ascii=False)
    (FOLDER / "values.json").write_text(text + "\n", encoding="utf-8")


main()
