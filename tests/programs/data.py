# Data loading: loaders, samplers, splits, collation, and resumed runs.

import copy
import io

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)


def make(dtype, rows=50):
    x = torch.randn(rows, 4, dtype=dtype)
    y = (x[:, 0] + x[:, 1] > 0).long()
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2)).to(dtype)
    return x, y, model


def epochs(record, model, loader, count=3, optimizer=None):
    optimizer = optimizer or optim.Adam(model.parameters(), lr=0.02)
    for _ in range(count):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            record(loss)
    return list(model.parameters())


def shuffled(record, dtype):
    x, y, model = make(dtype)
    return epochs(record, model, DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True))


def of_generator(record, dtype):
    x, y, model = make(dtype)
    generator = torch.Generator().manual_seed(42)
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True, drop_last=True, generator=generator)
    return epochs(record, model, loader)


def split(record, dtype):
    x, y, model = make(dtype)
    train, valid, _ = random_split(TensorDataset(x, y), [0.6, 0.3, 0.1])
    params = epochs(record, model, DataLoader(train, batch_size=8, shuffle=True))
    model.eval()
    with torch.no_grad():
        total = sum(F.cross_entropy(model(a), b, reduction="sum") for a, b in DataLoader(valid, batch_size=32))
    record(total / len(valid))
    return params


def split_by_generator(record, dtype):
    x, y, model = make(dtype)
    train, rest = random_split(TensorDataset(x, y), [30, 20], generator=torch.Generator().manual_seed(5))
    both = ConcatDataset([Subset(rest, range(0, 20, 2)), train])
    return epochs(record, model, DataLoader(both, batch_size=10, shuffle=True))


def weighted(record, dtype):
    x, y, model = make(dtype)
    counts = torch.bincount(y).to(torch.double)
    sampler = WeightedRandomSampler((1 / counts)[y], num_samples=40, replacement=True)
    params = epochs(record, model, DataLoader(TensorDataset(x, y), batch_size=10, sampler=sampler))
    once = WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 4, replacement=False)
    record(float(sum(i * 10**k for k, i in enumerate(once))))
    return params


def sampled(record, dtype):
    x, y, model = make(dtype)
    data = TensorDataset(x, y)
    epochs(record, model, DataLoader(data, batch_size=10, sampler=RandomSampler(data, replacement=True, num_samples=45)))
    epochs(record, model, DataLoader(data, batch_size=5, sampler=SubsetRandomSampler(range(10, 35))), 2)
    batches = BatchSampler(SequentialSampler(data), batch_size=12, drop_last=True)
    return epochs(record, model, DataLoader(data, batch_sampler=batches), 2)


class Noisy(Dataset):
    """Augments by chance, as datasets of images do."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i]
        if torch.rand(1).item() < 0.5:
            x = x.flip(0)
        return {"input": x + 0.1 * torch.randn(4, dtype=x.dtype), "target": int(self.y[i]), "weight": 1.0 + i % 3}


def augmented(record, dtype):
    x, y, model = make(dtype)
    optimizer = optim.RMSprop(model.parameters(), lr=0.01)
    for _ in range(3):
        for batch in DataLoader(Noisy(x, y), batch_size=16, shuffle=True):
            each = F.cross_entropy(model(batch["input"]), batch["target"], reduction="none")
            loss = (each * batch["weight"].to(dtype)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            record(loss)
    return model.parameters()


def collated(record, dtype):
    """Sequences of several lengths, padded by collate_fn."""
    sequences = [torch.randint(1, 9, (int(n),)) for n in torch.randint(2, 7, (20,))]
    data = [(s, int(s.sum()) % 2) for s in sequences]
    embed, rnn, head = nn.Embedding(9, 5, padding_idx=0), nn.GRU(5, 6, batch_first=True), nn.Linear(6, 2)
    nn.init.uniform_(embed.weight, -1, 1)
    model = nn.ModuleList([embed, rnn, head]).to(dtype)

    def collate(batch):
        tokens, labels = zip(*batch)
        lengths = torch.tensor([len(t) for t in tokens])
        return nn.utils.rnn.pad_sequence(tokens, batch_first=True), lengths, torch.tensor(labels)

    loader = DataLoader(data, batch_size=6, shuffle=True, collate_fn=collate)
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    for _ in range(3):
        for tokens, lengths, labels in loader:
            packed = nn.utils.rnn.pack_padded_sequence(embed(tokens), lengths, batch_first=True, enforce_sorted=False)
            _, h = rnn(packed)
            loss = F.cross_entropy(head(h[-1]), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            record(loss)
    return model.parameters()


class Stream(IterableDataset):
    def __init__(self, dtype):
        self.dtype = dtype

    def __iter__(self):
        for _ in range(22):
            x = torch.randn(4, dtype=self.dtype)
            yield x, int(x[0] > 0)


def streamed(record, dtype):
    _, _, model = make(dtype, 1)
    return epochs(record, model, DataLoader(Stream(dtype), batch_size=6))


def resumed(record, dtype):
    """Saves everything in the middle of a run, makes everything anew, and goes on."""
    x, y, model = make(dtype)
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
    optimizer = optim.RAdam(model.parameters(), lr=0.03)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=24)

    def run(model, optimizer, scheduler, count):
        for _ in range(count):
            for a, b in loader:
                loss = F.cross_entropy(model(a), b)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                record(loss)

    run(model, optimizer, scheduler, 3)
    file = io.BytesIO()
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "scheduler": scheduler.state_dict(),
            "random": torch.get_rng_state(),
            "epoch": 3,
        },
        file,
    )
    torch.manual_seed(99)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2)).to(dtype)
    optimizer = optim.RAdam(model.parameters(), lr=1.0)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 0.5, total_steps=100)
    file.seek(0)
    saved = torch.load(file)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    scheduler.load_state_dict(saved["scheduler"])
    torch.set_rng_state(saved["random"])
    run(model, optimizer, scheduler, 3)
    record(scheduler.get_last_lr()[0])
    return model.parameters()


def folds(record, dtype):
    """Cross-validation, the best state of each fold kept."""
    x, y, _ = make(dtype, 30)
    order = torch.randperm(30)
    params = []
    for fold in range(3):
        valid = order[fold * 10 : fold * 10 + 10]
        train = order[~torch.isin(order, valid)]
        torch.manual_seed(fold)
        model = nn.Linear(4, 2).to(dtype)
        optimizer = optim.Adagrad(model.parameters(), lr=0.5)
        best, best_state = float("inf"), None
        for a, b in DataLoader(Subset(TensorDataset(x, y), train.tolist()), batch_size=4, shuffle=True):
            optimizer.zero_grad()
            F.cross_entropy(model(a), b).backward()
            optimizer.step()
            with torch.no_grad():
                loss = F.cross_entropy(model(x[valid]), y[valid]).item()
            if loss < best:
                best, best_state = loss, copy.deepcopy(model.state_dict())
            record(loss)
        model.load_state_dict(best_state)
        params += model.parameters()
    return params


programs = {
    "shuffled": shuffled,
    "of a generator": of_generator,
    "random split": split,
    "random split by a generator": split_by_generator,
    "weighted sampler": weighted,
    "other samplers": sampled,
    "augmented": augmented,
    "collated": collated,
    "streamed": streamed,
    "saved and resumed": resumed,
    "cross-validation": folds,
}
