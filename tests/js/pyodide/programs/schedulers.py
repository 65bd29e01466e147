"""Warmup and cosine decay, and early stopping."""

import math

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LinearLR, ReduceLROnPlateau, SequentialLR


def main():
    torch.manual_seed(0)
    x = torch.randn(64, 3)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
    model, losses, rates = nn.Linear(3, 1), [], []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    scheduler = SequentialLR(
        optimizer, schedulers=[LinearLR(optimizer, start_factor=0.1, total_iters=5), CosineAnnealingLR(optimizer, T_max=25)], milestones=[5]
    )
    for _ in range(30):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        rates.append(optimizer.param_groups[0]["lr"])
    assert rates[0] < rates[4] and math.isclose(max(rates), 0.2, rel_tol=1e-6) and rates[-1] < 0.01
    other = LambdaLR(torch.optim.SGD(model.parameters(), lr=1.0), lr_lambda=lambda epoch: 0.95**epoch)
    other.optimizer.step()
    other.step()
    assert math.isclose(other.get_last_lr()[0], 0.95)
    plateau = ReduceLROnPlateau(optimizer, mode="min", factor=0.1, patience=1)
    lr = optimizer.param_groups[0]["lr"] = 0.1
    for _ in range(4):
        plateau.step(1.0)
    assert optimizer.param_groups[0]["lr"] < lr
    return losses
