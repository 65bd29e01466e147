# Writes tests/golden/programs.json: the results of the programs in this folder under PyTorch.
# `python3 tests/programs/write_curves.py [topic ...]` leaves other topics unchanged.

import importlib
import json
import math
import pathlib
import sys
import warnings

import torch

here = pathlib.Path(__file__).parent
target = here.parent / "golden" / "programs.json"
topics = sys.argv[1:] or sorted(p.stem for p in here.glob("*.py") if p.stem != "write_curves")
warnings.filterwarnings("ignore")
torch.set_num_threads(1)


def dropout(input, p=0.5, training=True, inplace=False):
    """As of PyTorch 2.5, masks are drawn in the order in which the input lies in memory."""
    if p == 0 or not training:
        return input
    noise = torch.empty_like(input).bernoulli_(1 - p).div_(1 - p)
    return input.mul_(noise) if inplace else input * noise


multinomial_of_1_13 = torch.multinomial


def multinomial(input, num_samples, replacement=False, **options):
    """As of PyTorch 2.0, a single sample is drawn as without replacement."""
    return multinomial_of_1_13(input, num_samples, replacement and num_samples > 1, **options)


torch.nn.functional.dropout = dropout
torch.multinomial = multinomial


def digest(params):
    """Of all parameters after each other: the sum, the sum of absolute values, a sum weighted by place."""
    flat = torch.cat([p.detach().double().reshape(-1) for p in params])
    places = torch.arange(flat.numel(), dtype=torch.float64)
    return [flat.sum().item(), flat.abs().sum().item(), (flat * torch.cos(places)).sum().item()]


def run(program, dtype):
    torch.manual_seed(7)
    losses = []
    params = program(lambda loss: losses.append(loss.item() if torch.is_tensor(loss) else loss), dtype)
    assert all(map(math.isfinite, losses)), losses
    return {"losses": losses, "digest": digest(params), "drawnAfter": torch.rand(2).tolist()}


curves = json.loads(target.read_text()) if target.exists() else {}
curves["torch"] = torch.__version__
sys.path.insert(0, str(here))
for topic in topics:
    programs = importlib.import_module(topic).programs
    curves[topic] = {
        name: {kind: run(program, getattr(torch, kind)) for kind in ("float32", "float64")}
        for name, program in programs.items()
    }
target.write_text(json.dumps(curves, separators=(",", ":"), allow_nan=False) + "\n")
