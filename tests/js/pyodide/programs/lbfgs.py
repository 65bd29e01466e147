"""LBFGS with a closure, on Rosenbrock's valley."""

import torch


def rosenbrock(p):
    x, y = p
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def main():
    p = torch.tensor([-1.2, 1.0], requires_grad=True)
    optimizer = torch.optim.LBFGS([p], lr=1.0, max_iter=20, history_size=10, line_search_fn="strong_wolfe")
    losses = []
    for _ in range(6):

        def closure():
            optimizer.zero_grad()
            loss = rosenbrock(p)
            loss.backward()
            return loss

        losses.append(optimizer.step(closure).item())
    assert torch.allclose(p.detach(), torch.ones(2), atol=1e-2)
    return losses
