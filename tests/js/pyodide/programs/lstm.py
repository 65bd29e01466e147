"""An LSTM that continues a sine wave."""

import torch
import torch.nn as nn


class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        out, state = self.lstm(x, state)
        return self.head(out[:, -1, :]), state


def main():
    torch.manual_seed(0)
    wave = torch.sin(torch.arange(0, 40, 0.25))
    windows = wave.unfold(0, 13, 6)
    x, y = windows[:, :12].unsqueeze(-1), windows[:, 12:]
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for _ in range(25):
        optimizer.zero_grad()
        prediction, (hidden, cell) = model(x)
        loss = nn.MSELoss()(prediction, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        losses.append(loss.item())
    assert hidden.shape == cell.shape == (1, x.size(0), 16)
    return losses
