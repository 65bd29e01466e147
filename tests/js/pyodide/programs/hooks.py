"""Activations and gradients, looked at through hooks."""

import torch
import torch.nn as nn


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    activations, gradients = {}, {}

    def save(name):
        def hook(module, inputs, output):
            activations[name] = output.detach()

        return hook

    handles = [layer.register_forward_hook(save(name)) for name, layer in model.named_children()]
    model[0].register_full_backward_hook(lambda module, grad_input, grad_output: gradients.update(first=grad_output[0]))
    x = torch.randn(16, 4)
    y = x[:, :1] * 2
    optimizer, losses = torch.optim.SGD(model.parameters(), lr=0.1), []
    for _ in range(40):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert {k: tuple(v.shape) for k, v in activations.items()} == {"0": (16, 8), "1": (16, 8), "2": (16, 1)}
    assert gradients["first"].shape == (16, 8) and (activations["1"] >= 0).all()
    for handle in handles:
        handle.remove()
    return losses
