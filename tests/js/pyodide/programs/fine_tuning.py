"""Fine-tuning: a trained body is frozen, and a new head is trained on another task."""

import copy
import io

import torch
import torch.nn as nn


def train(model, x, y, params, steps=60):
    optimizer, losses = torch.optim.SGD(params, lr=0.2, momentum=0.9), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main():
    torch.manual_seed(0)
    x = torch.rand(64, 3)
    body = nn.Sequential(nn.Linear(3, 16), nn.Tanh())
    base = nn.Sequential(body, nn.Linear(16, 1))
    train(base, x, x.sum(1, keepdim=True), base.parameters())
    file = io.BytesIO()
    torch.save(base.state_dict(), file)
    file.seek(0)
    model = copy.deepcopy(base)
    model.load_state_dict(torch.load(file, weights_only=True))
    for param in model[0].parameters():
        param.requires_grad = False
    model[1] = nn.Linear(16, 2)
    before = model[0][0].weight.clone()
    losses = train(model, x, torch.cat([x[:, :1] * 2, x[:, 1:2] - 1], 1), filter(lambda p: p.requires_grad, model.parameters()))
    assert torch.equal(before, model[0][0].weight)
    return losses
