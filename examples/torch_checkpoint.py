"""The training of torch_checkpoint.mjs in PyTorch, with the same file:

    node examples/torch_checkpoint.mjs --save curve.pt
    python3 examples/torch_checkpoint.py --save curve.pt
    node examples/torch_checkpoint.mjs --save curve.pt
"""

import argparse
import os

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--save", required=True)
arguments = parser.parse_args()

model = torch.nn.Sequential(torch.nn.Linear(1, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
done = 0

if os.path.exists(arguments.save):
    # From PyTorch 2.6 on, this reads nothing but data; before, `weights_only=True` reads state dicts alone.
    state = torch.load(arguments.save)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    done = state["step"]

# A curve to fit: the same points on both sides.
x = torch.linspace(-3, 3, 100).unsqueeze(1)
y = torch.sin(x) * x

for step in range(arguments.steps):
    loss = torch.nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step in (0, arguments.steps - 1):
        print(f"step {step + 1}  loss {loss.item():.4f}")

done += arguments.steps
state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": done}
torch.save(state, arguments.save)
print(f"{arguments.save}: {done} steps in all")
