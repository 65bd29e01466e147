# Many kinds of models, for the ops that they use.

import copy

import torch
from torch import nn, optim
from torch.nn import functional as F


def fit(params, loss_of, record, steps=15, optimizer=None):
    params = list(params)
    optimizer = optimizer or optim.Adam(params, lr=0.02)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        record(loss)
    return params


def gcn(record, dtype):
    edges = torch.randint(0, 12, (2, 30))
    adjacency = torch.zeros(12, 12, dtype=dtype).index_put((edges[0], edges[1]), torch.ones(30, dtype=dtype))
    adjacency = ((adjacency + adjacency.T + torch.eye(12, dtype=dtype)) > 0).to(dtype)
    d = adjacency.sum(1).pow(-0.5)
    mixing = d[:, None] * adjacency * d[None, :]
    x = torch.randn(12, 5, dtype=dtype)
    y = torch.randint(0, 3, (12,))
    first, second = nn.Linear(5, 8).to(dtype), nn.Linear(8, 3).to(dtype)
    seen = torch.rand(12) < 0.6

    def loss_of():
        out = mixing @ second(F.dropout(F.relu(mixing @ first(x)), 0.3))
        return F.nll_loss(F.log_softmax(out, 1)[seen], y[seen])

    return fit([*first.parameters(), *second.parameters()], loss_of, record)


def gat(record, dtype):
    """Attention over edges, by sums that are scattered."""
    source, target = torch.randint(0, 10, (40,)), torch.randint(0, 10, (40,))
    x, y = torch.randn(10, 4, dtype=dtype), torch.randn(10, dtype=dtype)
    w, a, head = nn.Linear(4, 6).to(dtype), nn.Linear(12, 1).to(dtype), nn.Linear(6, 1).to(dtype)

    def loss_of():
        h = w(x)
        e = F.leaky_relu(a(torch.cat([h[source], h[target]], 1)).squeeze(1), 0.2)
        largest = torch.zeros(10, dtype=dtype).scatter_reduce(0, target, e, "amax", include_self=False)
        p = (e - largest[target]).exp()
        total = torch.zeros(10, dtype=dtype).index_add(0, target, p)
        p = p / (total[target] + 1e-9)
        out = torch.zeros(10, 6, dtype=dtype).scatter_add(0, target[:, None].expand(-1, 6), p[:, None] * h[source])
        return F.mse_loss(head(F.elu(out)).squeeze(1), y)

    return fit([*w.parameters(), *a.parameters(), *head.parameters()], loss_of, record)


def dqn(record, dtype):
    network = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 4)).to(dtype)
    target = copy.deepcopy(network)
    optimizer = optim.RMSprop(network.parameters(), lr=1e-3, alpha=0.95, eps=0.01)
    states, rewards = torch.randn(40, 3, dtype=dtype), torch.randn(40, dtype=dtype)
    actions, done = torch.randint(0, 4, (40,)), torch.rand(40) < 0.2
    for step in range(25):
        i = torch.randint(0, 39, (8,))
        q = network(states[i]).gather(1, actions[i].unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = network(states[i + 1]).argmax(1, keepdim=True)
            later = target(states[i + 1]).gather(1, best).squeeze(1).masked_fill(done[i], 0)
        loss = F.smooth_l1_loss(q, rewards[i] + 0.9 * later)
        optimizer.zero_grad()
        loss.backward()
        for p in network.parameters():
            p.grad.data.clamp_(-1, 1)
        optimizer.step()
        for a, b in zip(target.parameters(), network.parameters()):
            a.data.copy_(0.95 * a.data + 0.05 * b.data)
        record(loss)
    return [*network.parameters(), *target.parameters()]


class LoRA(nn.Module):
    def __init__(self, inner, rank):
        super().__init__()
        self.inner = inner
        for p in inner.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.empty(rank, inner.in_features))
        self.B = nn.Parameter(torch.zeros(inner.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)

    def forward(self, x):
        return self.inner(x) + (x @ self.A.T @ self.B.T) * 2.0


def lora(record, dtype):
    model = nn.Sequential(nn.Linear(6, 10), nn.GELU(), nn.Linear(10, 2))
    model[0], model[2] = LoRA(model[0], 2), LoRA(model[2], 1)
    model = model.to(dtype)
    x, y = torch.randn(20, 6, dtype=dtype), torch.randint(0, 2, (20,))
    params = [p for p in model.parameters() if p.requires_grad]
    fit(params, lambda: F.cross_entropy(model(x), y), record, optimizer=optim.AdamW(params, lr=0.02))
    return model.parameters()


def gaussian_process(record, dtype):
    x = torch.linspace(-1, 1, 14, dtype=dtype)
    y = torch.sin(3 * x) + 0.1 * torch.randn(14, dtype=dtype)
    raw = nn.Parameter(torch.zeros(3, dtype=dtype))

    def kernel(a, b):
        length, scale, _ = raw.exp()
        return scale * torch.exp(-0.5 * torch.cdist(a[:, None], b[:, None]).square() / length**2)

    def loss_of():
        k = kernel(x, x) + (0.1 * raw[2].exp() + 0.05) * torch.eye(14, dtype=dtype)
        factor = torch.linalg.cholesky(k)
        alpha = torch.cholesky_solve(y[:, None], factor)
        return 0.5 * (y @ alpha.squeeze(1)) + factor.diagonal().log().sum()

    return fit([raw], loss_of, record)


def factorised(record, dtype):
    """Matrix factorisation with biases, of what was rated."""
    users, items = torch.randint(0, 8, (50,)), torch.randint(0, 9, (50,))
    ratings = torch.randint(1, 6, (50,)).to(dtype)
    tables = [nn.Embedding(n, k).to(dtype) for n, k in ((8, 4), (9, 4), (8, 1), (9, 1))]
    for table in tables:
        nn.init.uniform_(table.weight, -0.1, 0.1)
    u, v, bu, bv = tables
    mean = ratings.mean()

    def loss_of():
        predicted = mean + (u(users) * v(items)).sum(-1) + bu(users).squeeze(-1) + bv(items).squeeze(-1)
        penalty = sum(t.weight.pow(2).sum() for t in tables)
        return F.mse_loss(predicted, ratings) + 1e-3 * penalty

    params = [p for t in tables for p in t.parameters()]
    return fit(params, loss_of, record, optimizer=optim.Adagrad(params, lr=0.3))


def contrastive(record, dtype):
    """CLIP: two encoders, a learned temperature, a symmetric loss."""
    images, texts = torch.randn(8, 6, dtype=dtype), torch.randn(8, 5, dtype=dtype)
    a, b = nn.Linear(6, 4).to(dtype), nn.Linear(5, 4).to(dtype)
    scale = nn.Parameter(torch.tensor(2.0, dtype=dtype))

    def loss_of():
        x, y = F.normalize(a(images), dim=-1), F.normalize(b(texts), dim=-1)
        logits = scale.exp() * x @ y.t()
        labels = torch.arange(8)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2

    return fit([*a.parameters(), *b.parameters(), scale], loss_of, record)


def spectral(record, dtype):
    """A filter of frequencies learned with complex weights, judged by a spectrogram too."""
    x = torch.randn(3, 64, dtype=dtype)
    wanted = torch.roll(x, 3, 1)
    weight = nn.Parameter(torch.ones(33, 2, dtype=dtype))
    window = torch.hann_window(16, dtype=dtype)

    def loss_of():
        out = torch.fft.irfft(torch.fft.rfft(x) * torch.view_as_complex(weight), n=64)
        a = torch.stft(out, 16, 8, window=window, return_complex=True).abs()
        b = torch.stft(wanted, 16, 8, window=window, return_complex=True).abs()
        return F.mse_loss(out, wanted) + F.l1_loss(a, b)

    return fit([weight], loss_of, record)


def sinkhorn(record, dtype):
    x, y = nn.Parameter(torch.randn(10, 2, dtype=dtype)), torch.randn(12, 2, dtype=dtype) + 2

    def loss_of():
        cost = torch.cdist(x, y, p=2).pow(2)
        f, g = torch.zeros(10, dtype=dtype), torch.zeros(12, dtype=dtype)
        for _ in range(6):
            f = -0.5 * torch.logsumexp((g[None] - cost) / 0.5 - torch.tensor(12.0, dtype=dtype).log(), 1)
            g = -0.5 * torch.logsumexp((f[:, None] - cost) / 0.5 - torch.tensor(10.0, dtype=dtype).log(), 0)
        plan = ((f[:, None] + g[None] - cost) / 0.5).exp() / 120
        return (plan * cost).sum()

    return fit([x], loss_of, record)


def mixed_up(record, dtype):
    """Mixup with coefficients of Beta, and a step of FGSM."""
    x, y = torch.randn(16, 4, dtype=dtype), torch.randint(0, 3, (16,))
    model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 3)).to(dtype)
    beta = torch.distributions.Beta(torch.tensor(0.4, dtype=dtype), torch.tensor(0.4, dtype=dtype))

    def loss_of():
        lam, order = beta.sample(), torch.randperm(16)
        seen = (lam * x + (1 - lam) * x[order]).requires_grad_()
        grad = torch.autograd.grad(F.cross_entropy(model(seen), y), seen)[0]
        attacked = torch.clamp(seen + 0.05 * grad.sign(), -2, 2).detach()
        out = model(attacked)
        return lam * F.cross_entropy(out, y) + (1 - lam) * F.cross_entropy(out, y[order])

    return fit(model.parameters(), loss_of, record)


def quantized(record, dtype):
    """VQ-VAE: the nearest code, straight through, and codes that follow."""
    x = torch.randn(20, 4, dtype=dtype)
    encoder, decoder = nn.Linear(4, 3).to(dtype), nn.Linear(3, 4).to(dtype)
    codes = nn.Parameter(torch.rand(6, 3, dtype=dtype) - 0.5)

    def loss_of():
        z = encoder(x)
        index = torch.cdist(z, codes).argmin(1)
        q = F.embedding(index, codes)
        commitment = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        used = F.one_hot(index, 6).to(dtype).mean(0)
        record(torch.exp(-(used * torch.log(used + 1e-10)).sum()))
        return F.mse_loss(decoder(z + (q - z).detach()), x) + commitment

    return fit([*encoder.parameters(), *decoder.parameters(), codes], loss_of, record)


def detected(record, dtype):
    """Boxes: a loss of overlaps, a focal loss, the hardest negatives."""
    x = torch.randn(12, 5, dtype=dtype)
    low = torch.rand(12, 2, dtype=dtype)
    wanted = torch.cat([low, low + torch.rand(12, 2, dtype=dtype) + 0.1], 1)
    labels = (torch.rand(12) < 0.4).to(dtype)
    box, score = nn.Linear(5, 4).to(dtype), nn.Linear(5, 1).to(dtype)

    def loss_of():
        raw = box(x).sigmoid() * 2
        made = torch.cat([raw[:, :2], raw[:, :2] + raw[:, 2:] + 0.05], 1)
        inside = (torch.min(made[:, 2:], wanted[:, 2:]) - torch.max(made[:, :2], wanted[:, :2])).clamp(min=0).prod(1)
        area = lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        iou = inside / (area(made) + area(wanted) - inside)
        logits = score(x).squeeze(1)
        p = torch.sigmoid(logits)
        bce = F.binary_cross_entropy_with_logits(logits, labels, reduction="none")
        focal = ((1 - (p * labels + (1 - p) * (1 - labels))) ** 2 * bce).mean()
        hardest = bce[labels == 0].topk(3).values.mean()
        return (1 - iou).mean() + focal + 0.5 * hardest

    return fit([*box.parameters(), *score.parameters()], loss_of, record)


def rays(record, dtype):
    """NeRF: positions as waves, densities along rays, products of what passes."""
    points = torch.rand(4, 8, 1, dtype=dtype).sort(dim=1).values
    colors = torch.rand(4, 3, dtype=dtype)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(dtype)

    def loss_of():
        waves = points * (2.0 ** torch.arange(4, dtype=dtype)) * 3.141592653589793
        out = net(torch.cat([waves.sin(), waves.cos()], -1))
        sigma, rgb = F.softplus(out[..., 3]), out[..., :3].sigmoid()
        gaps = torch.cat([points[:, 1:, 0] - points[:, :-1, 0], torch.full((4, 1), 0.3, dtype=dtype)], 1)
        alpha = 1 - torch.exp(-sigma * gaps)
        passed = torch.cumprod(torch.cat([torch.ones(4, 1, dtype=dtype), 1 - alpha + 1e-10], 1), 1)[:, :-1]
        weights = alpha * passed
        return F.mse_loss(torch.einsum("rs,rsc->rc", weights, rgb), colors)

    return fit(net.parameters(), loss_of, record)


def quantiles(record, dtype):
    x = torch.randn(30, 3, dtype=dtype)
    y = x.sum(1) + torch.randn(30, dtype=dtype) * 0.3
    model = nn.Linear(3, 3, bias=False).to(dtype)
    levels = torch.tensor([0.1, 0.5, 0.9], dtype=dtype)

    def loss_of():
        error = y[:, None] - model(x)
        record(error.detach().abs().quantile(0.75))
        record(error.detach().median())
        return torch.maximum(levels * error, (levels - 1) * error).mean() + 0.01 * model.weight.norm(1)

    return fit(model.parameters(), loss_of, record)


def crf(record, dtype):
    """Tags of a chain, by the forward algorithm, and the best path of Viterbi."""
    x, tags = torch.randn(7, 5, dtype=dtype), torch.randint(0, 3, (7,))
    emit = nn.Linear(5, 3).to(dtype)
    moves = nn.Parameter(torch.zeros(3, 3, dtype=dtype))

    def loss_of():
        scores = emit(x)
        alpha = scores[0]
        for t in range(1, 7):
            alpha = torch.logsumexp(alpha[:, None] + moves + scores[t][None], dim=0)
        right = scores.gather(1, tags[:, None]).sum() + moves[tags[:-1], tags[1:]].sum()
        return alpha.logsumexp(0) - right

    params = fit([*emit.parameters(), moves], loss_of, record)
    best = emit(x)[0].detach()
    for t in range(1, 7):
        values, _ = (best[:, None] + moves.detach() + emit(x)[t].detach()).max(dim=0)
        best = values
    record(best.max())
    return params


programs = {
    "GCN": gcn,
    "GAT": gat,
    "DQN": dqn,
    "LoRA": lora,
    "Gaussian process": gaussian_process,
    "matrix factorisation": factorised,
    "CLIP": contrastive,
    "filter of frequencies": spectral,
    "Sinkhorn": sinkhorn,
    "mixup and FGSM": mixed_up,
    "VQ-VAE": quantized,
    "detection": detected,
    "NeRF": rays,
    "quantiles": quantiles,
    "CRF": crf,
}
