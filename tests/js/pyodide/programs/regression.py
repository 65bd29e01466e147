"""A line through points, by hand and with nn.Linear."""

import torch


def main():
    torch.manual_seed(0)
    x = torch.linspace(0, 1, 50).unsqueeze(1)
    y = 2 * x - 1 + 0.01 * torch.randn(50, 1)
    w = torch.randn(1, requires_grad=True)
    b = torch.zeros(1, requires_grad=True)
    losses = []
    for _ in range(200):
        loss = ((w * x + b - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.5 * w.grad
            b -= 0.5 * b.grad
        w.grad.zero_()
        b.grad.zero_()
        losses.append(loss.item())
    assert abs(w.item() - 2) < 0.1 and abs(b.item() + 1) < 0.1
    return losses
