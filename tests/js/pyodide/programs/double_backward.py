"""A penalty on the gradient with respect to the input, and Newton's method."""

import torch
import torch.nn as nn


def main():
    torch.manual_seed(0)
    model, losses = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 1)), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    x = torch.rand(32, 2)
    for _ in range(40):
        inputs = x.clone().requires_grad_(True)
        out = model(inputs)
        grads = torch.autograd.grad(outputs=out, inputs=inputs, grad_outputs=torch.ones_like(out), create_graph=True, retain_graph=True)[0]
        loss = ((grads.norm(2, dim=1) - 1) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    t = torch.tensor(3.0, requires_grad=True)
    for _ in range(6):
        f = t**4 - 8 * t**2
        (g,) = torch.autograd.grad(f, t, create_graph=True)
        (h,) = torch.autograd.grad(g, t)
        with torch.no_grad():
            t -= g / h
    assert abs(t.item() - 2) < 1e-4
    return losses
