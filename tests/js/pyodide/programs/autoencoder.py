"""A denoising autoencoder with transposed convolutions."""

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super(Autoencoder, self).__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(True), nn.Conv2d(4, 8, 3, stride=2, padding=1))
        self.decoder = nn.Sequential(
            nn.ReLU(True),
            nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1),
            nn.ReLU(True),
            nn.ConvTranspose2d(4, 1, 3, stride=2, padding=1, output_padding=1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def main():
    torch.manual_seed(0)
    clean = torch.zeros(16, 1, 8, 8)
    for i in range(16):
        clean[i, 0, i % 8, :] = 1.0
    model, losses = Autoencoder(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-5)
    for _ in range(40):
        noisy = (clean + 0.2 * torch.randn(*clean.shape)).clamp_(0.0, 1.0)
        loss = nn.MSELoss()(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
