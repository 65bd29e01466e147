"""Datasets, samplers, splits and a collate function."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, TensorDataset, WeightedRandomSampler, random_split


class Words(Dataset):
    """Sequences of different lengths; the label says whether the sum is even."""

    def __init__(self, count):
        generator = torch.Generator().manual_seed(1)
        self.items = [torch.randint(0, 5, (int(n),), generator=generator) for n in torch.randint(2, 6, (count,), generator=generator)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index], int(self.items[index].max() > 2)


def collate(batch):
    sequences, labels = zip(*batch)
    lengths = torch.tensor([len(one) for one in sequences])
    return pad_sequence(sequences, batch_first=True, padding_value=5), lengths, torch.tensor(labels)


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(6, 8, padding_idx=5)
        self.head = nn.Linear(8, 2)

    def forward(self, ids, lengths):
        return self.head(self.embedding(ids).sum(dim=1) / lengths.unsqueeze(1))


def main():
    torch.manual_seed(0)
    train, test = random_split(Words(60), [48, 12], generator=torch.Generator().manual_seed(42))
    loader = DataLoader(train, batch_size=16, shuffle=True, collate_fn=collate, drop_last=True)
    model, losses = Bag(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for epoch in range(8):
        total = 0.0
        for ids, lengths, labels in loader:
            optimizer.zero_grad()
            loss = nn.CrossEntropyLoss()(model(ids, lengths), labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
        losses.append(total / len(loader))
    sampler = WeightedRandomSampler([0.0, 1.0], num_samples=5)
    picked = DataLoader(TensorDataset(torch.tensor([7, 8])), batch_size=5, sampler=sampler)
    assert next(iter(picked))[0].tolist() == [8] * 5 and len(test) == 12
    return losses
