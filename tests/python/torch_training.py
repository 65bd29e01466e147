"""Loads the state of a model and of its optimizer into PyTorch, as weights only, and prints whether the sums of shared memory agree.

    python3 tests/python/torch_training.py MODEL.pt TRAINING.pt SHARED.pt
"""

import sys

import torch

weights, training, shared = sys.argv[1:]

model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
print(model.load_state_dict(torch.load(weights, weights_only=True)))

state = torch.load(training)
optimizer = torch.optim.Adam(model.parameters())
optimizer.load_state_dict(state["optimizer"])
assert optimizer.param_groups[0]["lr"] == 0.25
assert all(len(optimizer.state[one]) > 0 for one in model.parameters())
model(torch.randn(5, 3)).sum().backward()
optimizer.step()

values = torch.load(shared)
values["base"].fill_(9)
assert values["part"].tolist() == [9, 9] and values["turned"].tolist() == [[9, 9]] * 3
assert values["base"] is values["again"]
print("ok")
