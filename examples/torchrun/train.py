"""The training of train.mjs in PyTorch, by several processes:

    node examples/torchrun/train.mjs --save run.pt
    torchrun --standalone --nproc_per_node 2 examples/torchrun/train.py --save run.pt --batch 16
    node examples/torchrun/train.mjs --save run.pt

`--batch` is the batch of each process: two with 16 take the steps of one with 32.
"""

import argparse
import os
import pathlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from names import convert_checkpoint, inverse, load_names

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--save", required=True)
arguments = parser.parse_args()

dist.init_process_group("gloo")
rank, world_size = dist.get_rank(), dist.get_world_size()


class Network(nn.Module):
    """The network of train.mjs. Its layers have other names, and the parameters another order."""

    def __init__(self):
        super().__init__()
        self.classifier = nn.Linear(4 * 4 * 4, 10)
        self.features = nn.Sequential()
        self.features.add_module("convolution", nn.Conv2d(1, 4, 3, padding=1))

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.features(x)), 2)
        return self.classifier(x.flatten(1))


network = Network()
names = load_names(pathlib.Path(__file__).parent / "names.json")
order = [name for name, _ in network.named_parameters()]
optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=100)

# Every process reads the file, and so has the same random numbers. From PyTorch 2.6 on, this reads nothing but data.
checkpoint = torch.load(arguments.save)
state = convert_checkpoint(checkpoint, names, order)
network.load_state_dict(state["model"])
optimizer.load_state_dict(state["optimizer"])
scheduler.load_state_dict(state["scheduler"])
torch.set_rng_state(state["random"])
done = state["step"]
model = DistributedDataParallel(network)

generator = torch.Generator().manual_seed(1)
images = torch.randn(512, 1, 8, 8, generator=generator)
labels = (images.flatten(1) @ torch.randn(64, 10, generator=generator)).argmax(1)

total = arguments.batch * world_size
for step in range(done, done + arguments.steps):
    # All processes draw the whole batch, and take their part of it.
    chosen = torch.randint(0, images.shape[0], (total,)).chunk(world_size)[rank]
    noise = (torch.randn(total, 1, 8, 8) * 0.1).chunk(world_size)[rank]
    loss = nn.functional.cross_entropy(model(images[chosen] + noise), labels[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    if rank == 0:
        print(f"step {step + 1}  loss {mean.item() / world_size:.7f}", flush=True)

if rank == 0:
    ours = {
        "model": network.state_dict(),
        "parameters": order,
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "random": torch.get_rng_state(),
        "step": done + arguments.steps,
    }
    torch.save(convert_checkpoint(ours, inverse(names), checkpoint["parameters"]), arguments.save)
dist.destroy_process_group()
