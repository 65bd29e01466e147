# Recurrent networks, cells, packed sequences, embeddings, CTC.

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence


class Tagger(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.embed = nn.Embedding(11, 6, padding_idx=0)
        nn.init.uniform_(self.embed.weight, -0.5, 0.5)
        self.rnn = getattr(nn, kind)(6, 8, **options)
        width = options.get("proj_size") or 8
        self.head = nn.Linear(width * (2 if options.get("bidirectional") else 1), 4)

    def forward(self, tokens):
        out, _ = self.rnn(self.embed(tokens))
        return self.head(out)


def tagged(kind, **options):
    def program(record, dtype):
        tokens = torch.randint(0, 11, (7, 5))
        tags = (tokens + tokens.roll(1, 0)) % 4
        model = Tagger(kind, **options).to(dtype)
        optimizer = optim.Adam(model.parameters(), lr=0.02)
        for _ in range(20):
            loss = F.cross_entropy(model(tokens).flatten(0, 1), tags.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            record(loss)
        return model.parameters()

    return program


def celled(kind, **options):
    """Follows a sine wave, a step at a time."""

    def program(record, dtype):
        wave = torch.sin(torch.arange(25, dtype=dtype) * 0.4).repeat(3, 1) * torch.tensor([[1.0], [0.7], [-0.5]], dtype=dtype)
        cell = getattr(nn, kind)(1, 10, **options).to(dtype)
        head = nn.Linear(10, 1).to(dtype)
        params = list(cell.parameters()) + list(head.parameters())
        optimizer = optim.RMSprop(params, lr=0.01)
        for _ in range(15):
            state = None
            total = 0
            for t in range(24):
                state = cell(wave[:, t : t + 1], state)
                hidden = state[0] if kind == "LSTMCell" else state
                total = total + F.mse_loss(head(hidden).squeeze(1), wave[:, t + 1])
            loss = total / 24
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            record(loss)
        return params

    return program


def packed(record, dtype):
    lengths = torch.tensor([3, 7, 5, 1])
    x = torch.randn(4, 7, 3, dtype=dtype)
    y = torch.randn(4, dtype=dtype)
    rnn = nn.LSTM(3, 5, num_layers=2, batch_first=True, bidirectional=True, dropout=0.3).to(dtype)
    head = nn.Linear(20, 1).to(dtype)
    params = [*rnn.parameters(), *head.parameters()]
    optimizer = optim.AdamW(params, lr=0.02)
    for _ in range(20):
        batch = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, (h, c) = rnn(batch)
        unpacked, sizes = pad_packed_sequence(out, batch_first=True)
        means = unpacked.sum(1) / sizes.to(dtype).unsqueeze(1)
        features = torch.cat([means, h[-1], c[0]], dim=1)
        loss = F.mse_loss(head(features).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return params


def packed_list(record, dtype):
    sequences = [torch.randn(n, 3, dtype=dtype) for n in (6, 4, 2)]
    wanted = pad_sequence([s.cumsum(0)[:, :1] for s in sequences])
    rnn = nn.GRU(3, 6).to(dtype)
    head = nn.Linear(6, 1).to(dtype)
    optimizer = optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1, momentum=0.9)
    h0 = torch.zeros(1, 3, 6, dtype=dtype)
    for _ in range(25):
        out, _ = rnn(pack_sequence(sequences), h0)
        padded, sizes = pad_packed_sequence(out, padding_value=0.0)
        mask = torch.arange(6)[:, None] < sizes[None, :]
        loss = ((head(padded) - wanted).squeeze(2) ** 2)[mask].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return [*rnn.parameters(), *head.parameters()]


def bag(mode, **options):
    def program(record, dtype):
        words = torch.randint(0, 12, (30,))
        offsets = torch.tensor([0, 4, 4, 11, 20])
        labels = torch.tensor([0, 1, 2, 1, 0])
        embed = nn.EmbeddingBag(12, 6, mode=mode, **options).to(dtype)
        nn.init.uniform_(embed.weight, -1, 1)
        head = nn.Linear(6, 3).to(dtype)
        params = [*embed.parameters(), *head.parameters()]
        optimizer = optim.Adagrad(params, lr=0.1)
        weights = torch.rand(30, dtype=dtype) if mode == "sum" else None
        for _ in range(25):
            loss = F.cross_entropy(head(embed(words, offsets, weights)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            record(loss)
        return params

    return program


def limited(record, dtype):
    words = torch.randint(0, 12, (8, 5))
    labels = words.sum(1) % 3
    embed = nn.Embedding(12, 6, padding_idx=3, max_norm=0.8, norm_type=1.5)
    nn.init.uniform_(embed.weight, -1, 1)
    model = nn.Sequential(embed, nn.Flatten(), nn.Linear(30, 3)).to(dtype)
    optimizer = optim.SGD(model.parameters(), lr=0.5)
    for _ in range(25):
        loss = F.cross_entropy(model(words), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return model.parameters()


def ctc(record, dtype):
    x = torch.randn(12, 3, 4, dtype=dtype)
    targets = torch.randint(1, 6, (3, 5))
    input_lengths = torch.tensor([12, 10, 11])
    target_lengths = torch.tensor([5, 3, 4])
    rnn = nn.GRU(4, 8, bidirectional=True).to(dtype)
    head = nn.Linear(16, 6).to(dtype)
    params = [*rnn.parameters(), *head.parameters()]
    optimizer = optim.Adam(params, lr=0.02)
    criterion = nn.CTCLoss(zero_infinity=True)
    for _ in range(20):
        log_probs = head(rnn(x)[0]).log_softmax(2)
        loss = criterion(log_probs, targets, input_lengths, target_lengths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return params


def characters(record, dtype):
    """A language model by truncated backpropagation through time, which then writes."""
    text = torch.tensor([ord(c) - 97 for c in "thequickbrownfoxjumpsoverthelazydog" * 3])
    embed, rnn, head = nn.Embedding(26, 8), nn.LSTM(8, 16, 2, dropout=0.2), nn.Linear(16, 26)
    nn.init.xavier_uniform_(embed.weight)
    model = nn.ModuleList([embed, rnn, head]).to(dtype)
    optimizer = optim.Adamax(model.parameters(), lr=0.01)
    state = (torch.zeros(2, 1, 16, dtype=dtype), torch.zeros(2, 1, 16, dtype=dtype))
    for i in range(20):
        window = text[i * 5 : i * 5 + 6]
        state = tuple(s.detach() for s in state)
        out, state = rnn(embed(window[:-1].unsqueeze(1)), state)
        loss = F.nll_loss(F.log_softmax(head(out.squeeze(1)), -1), window[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    model.eval()
    token = text[:1]
    with torch.no_grad():
        for _ in range(10):
            out, state = rnn(embed(token.unsqueeze(1)), state)
            token = torch.multinomial((head(out.squeeze(1)) / 0.8).softmax(-1), 1).squeeze(1)
            record(float(token))
    return model.parameters()


def translated(record, dtype):
    """Sequence to sequence with attention and teacher forcing by chance."""
    source = torch.randint(0, 8, (6, 4))
    target = source.flip(0)
    embed = nn.Embedding.from_pretrained(torch.linspace(-1, 1, 9 * 5, dtype=dtype).view(9, 5), freeze=False)
    encoder, decoder = nn.GRU(5, 7), nn.GRUCell(5 + 7, 7)
    score, head = nn.Bilinear(7, 7, 1, bias=False), nn.Linear(14, 8)
    model = nn.ModuleDict({"embed": embed, "encoder": encoder, "decoder": decoder, "score": score, "head": head}).to(dtype)
    optimizer = optim.RAdam(model.parameters(), lr=0.03)
    for _ in range(15):
        memory, h = encoder(embed(source))
        h = h[0]
        token = torch.full((4,), 8)
        loss = 0
        for t in range(6):
            weights = score(h.expand_as(memory).contiguous(), memory).softmax(0)
            context = (weights * memory).sum(0)
            h = decoder(torch.cat([embed(token), context], 1), h)
            logits = head(torch.cat([h, context], 1))
            loss = loss + F.cross_entropy(logits, target[t])
            token = target[t] if torch.rand(1).item() < 0.5 else logits.argmax(1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 2.0, norm_type=float("inf"))
        optimizer.step()
        record(loss)
    return model.parameters()


programs = {
    "RNN": tagged("RNN"),
    "RNN of relu, three layers with dropout": tagged("RNN", num_layers=3, nonlinearity="relu", dropout=0.4),
    "LSTM, both ways": tagged("LSTM", bidirectional=True),
    "LSTM, deep, both ways, with dropout": tagged("LSTM", num_layers=3, dropout=0.3, bidirectional=True),
    "LSTM with projections": tagged("LSTM", num_layers=2, proj_size=3, dropout=0.1),
    "GRU, deep, both ways, with dropout": tagged("GRU", num_layers=2, dropout=0.5, bidirectional=True),
    "GRU without biases": tagged("GRU", num_layers=2, bias=False),
    "RNNCell": celled("RNNCell"),
    "RNNCell of relu": celled("RNNCell", nonlinearity="relu"),
    "LSTMCell": celled("LSTMCell"),
    "GRUCell": celled("GRUCell", bias=False),
    "packed sequences": packed,
    "a packed list": packed_list,
    "EmbeddingBag, sum": bag("sum"),
    "EmbeddingBag, mean": bag("mean", padding_idx=2),
    "EmbeddingBag, max": bag("max"),
    "EmbeddingBag, mean with a largest norm": bag("mean", max_norm=1.0),
    "Embedding with a largest norm": limited,
    "CTC": ctc,
    "language model": characters,
    "translation": translated,
}
