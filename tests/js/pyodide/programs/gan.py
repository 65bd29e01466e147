"""A generator learns a normal distribution against a discriminator."""

import torch
import torch.nn as nn


def main():
    torch.manual_seed(0)
    G = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    D = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
    criterion = nn.BCELoss()
    opt_g = torch.optim.Adam(G.parameters(), lr=0.01, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(D.parameters(), lr=0.01, betas=(0.5, 0.999))
    real_label, fake_label = torch.ones(32, 1), torch.zeros(32, 1)
    distances = []
    for _ in range(60):
        real = 3 + 0.5 * torch.randn(32, 1)
        fake = G(torch.randn(32, 4))
        D.zero_grad()
        loss_d = criterion(D(real), real_label) + criterion(D(fake.detach()), fake_label)
        loss_d.backward()
        opt_d.step()
        G.zero_grad()
        loss_g = criterion(D(fake), real_label)
        loss_g.backward()
        opt_g.step()
        distances.append(abs(fake.mean().item() - 3))
    return distances
