"""A convolutional network on small pictures of bars."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Bars(Dataset):
    def __init__(self, count):
        self.pictures = torch.rand(count, 1, 8, 8) * 0.2
        self.labels = torch.arange(count) % 2
        for i in range(count):
            place = i % 8
            if self.labels[i] == 0:
                self.pictures[i, 0, place] += 1
            else:
                self.pictures[i, 0, :, place] += 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.pictures[index], self.labels[index]


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d((1, 1)),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.1), nn.Linear(8, 2))

    def forward(self, x):
        return self.classifier(self.features(x))


def main():
    torch.manual_seed(0)
    loader = DataLoader(Bars(32), batch_size=16, shuffle=True)
    model = CNN()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for epoch in range(12):
        model.train()
        running = 0.0
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            running += loss.item() * inputs.size(0)
        losses.append(running / len(loader.dataset))
    return losses
