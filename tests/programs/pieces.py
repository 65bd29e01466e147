# Activations, losses, and parametrized layers in a small network.

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.nn.utils import parametrizations, parametrize


def activated(make, share=1):
    def program(record, dtype):
        x = torch.randn(20, 5, dtype=dtype)
        y = x.square().sum(1, keepdim=True).sqrt()
        model = nn.Sequential(nn.Linear(5, 12), make(), nn.Linear(12 // share, 8), make(), nn.Linear(8 // share, 1)).to(dtype)
        optimizer = optim.SGD(model.parameters(), lr=0.005, momentum=0.9)
        for _ in range(20):
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            record(loss)
        model.eval()
        with torch.no_grad():
            record(F.mse_loss(model(x), y))
        return model.parameters()

    return program


def judged(criterion, target, outputs=4, head=None):
    """`target(x)` is what `criterion` compares outputs of a network with."""

    def program(record, dtype):
        x = torch.randn(16, 5, dtype=dtype)
        wanted = target(x)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        model = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, outputs)).to(dtype)
        optimizer = optim.Adam(model.parameters(), lr=0.02)
        for _ in range(15):
            out = model(x)
            out = out if head is None else head(out)
            out = out if isinstance(out, tuple) else (out,)
            loss = criterion(dtype)(*out, *wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            record(loss)
        return model.parameters()

    return program


def classes(x):
    return (x[:, :4] * 3).argmax(1)


def signs(x):
    return x[:, 0].sign()


def soft(x):
    return x[:, :4].softmax(1)


def bits(x):
    return (x[:, :4] > 0).to(x.dtype)


def labels(x):
    order = x[:, :4].argsort(1)
    order[:, 2] = -1
    return order


def thirds(out):
    return tuple(out.split(4, 1))


def weight_norm(record, dtype):
    x = torch.randn(10, 3, 12, dtype=dtype)
    conv = nn.utils.weight_norm(nn.Conv1d(3, 4, 3).to(dtype))
    line = nn.utils.weight_norm(nn.Linear(40, 2).to(dtype), dim=None)
    model = nn.Sequential(conv, nn.Tanh(), nn.Flatten(), line)
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    for step in range(20):
        loss = model(x).square().mean() + (model(x).sum() - 3).square()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    nn.utils.remove_weight_norm(conv)
    record(model(x).sum())
    return model.parameters()


def parametrized_weight_norm(record, dtype):
    x = torch.randn(10, 6, dtype=dtype)
    # parametrizations.weight_norm in PyTorch 2 computes the same.
    model = nn.Sequential(
        nn.utils.weight_norm(nn.Linear(6, 8).to(dtype)), nn.SiLU(), nn.utils.weight_norm(nn.Linear(8, 1).to(dtype), dim=1)
    )
    optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(20):
        loss = F.smooth_l1_loss(model(x).squeeze(1), x.norm(dim=1), beta=0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return model.parameters()


def gan(normed):
    """A WGAN whose critic has spectral norms."""

    def program(record, dtype):
        generator = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2)).to(dtype)
        critic = nn.Sequential(normed(nn.Linear(2, 16).to(dtype)), nn.LeakyReLU(0.2), normed(nn.Linear(16, 1).to(dtype)))
        g_optimizer = optim.Adam(generator.parameters(), lr=5e-3, betas=(0.5, 0.9))
        c_optimizer = optim.Adam(critic.parameters(), lr=5e-3, betas=(0.5, 0.9))
        for _ in range(15):
            angle = torch.rand(16, 1, dtype=dtype) * 6.28
            real = torch.cat([angle.cos(), angle.sin()], 1)
            fake = generator(torch.randn(16, 3, dtype=dtype))
            c_loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake.detach())).mean()
            c_optimizer.zero_grad()
            c_loss.backward()
            c_optimizer.step()
            g_loss = -critic(fake).mean()
            g_optimizer.zero_grad()
            g_loss.backward()
            g_optimizer.step()
            record(c_loss)
            record(g_loss)
        critic.eval()
        record(critic(real).sum())
        return [*generator.parameters(), *critic.parameters()]

    return program


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)

    def right_inverse(self, w):
        return w.triu()


class Exponential(nn.Module):
    def forward(self, w):
        return torch.matrix_exp(w - w.T)


def parametrized(record, dtype):
    x = torch.randn(10, 4, dtype=dtype)
    layer = nn.Linear(4, 4)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    turn = nn.Linear(4, 4, bias=False)
    parametrize.register_parametrization(turn, "weight", Exponential())
    model = nn.Sequential(layer, nn.Tanh(), turn).to(dtype)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    for _ in range(20):
        with parametrize.cached():
            loss = F.mse_loss(model(x), x.roll(1, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    parametrize.remove_parametrizations(layer, "weight")
    record(model(x).sum())
    return model.parameters()


def initialized(record, dtype):
    """Every initialization that draws no normal numbers, and those that do."""
    params = []
    for name, options in [
        ("uniform_", {"a": -0.2, "b": 0.7}),
        ("constant_", {"val": 0.3}),
        ("eye_", {}),
        ("xavier_uniform_", {"gain": nn.init.calculate_gain("leaky_relu", 0.1)}),
        ("kaiming_uniform_", {"mode": "fan_out", "nonlinearity": "relu"}),
        ("normal_", {"mean": 0.1, "std": 0.5}),
        ("xavier_normal_", {"gain": 2.0}),
        ("kaiming_normal_", {"a": 0.2}),
        ("trunc_normal_", {"std": 0.5, "a": -0.6, "b": 0.9}),
        ("orthogonal_", {"gain": 1.5}),
        ("sparse_", {"sparsity": 0.4}),
    ]:
        p = nn.Parameter(torch.empty(6, 9, dtype=dtype))
        getattr(nn.init, name)(p, **options)
        record(p.sum())
        record(p.square().sum())
        params.append(p)
    p = nn.Parameter(torch.empty(4, 2, 3, 3, dtype=dtype))
    nn.init.dirac_(p, groups=2)
    record(p.sum())
    return params + [p]


activations = {
    "ReLU": nn.ReLU,
    "ReLU6": nn.ReLU6,
    "LeakyReLU": lambda: nn.LeakyReLU(0.2),
    "ELU": lambda: nn.ELU(alpha=1.3),
    "CELU": lambda: nn.CELU(0.75),
    "SELU": nn.SELU,
    "GELU": nn.GELU,
    "GELU by tanh": lambda: nn.GELU(approximate="tanh"),
    "SiLU": nn.SiLU,
    "Mish": nn.Mish,
    "Softplus": lambda: nn.Softplus(2, 1),
    "Softsign": nn.Softsign,
    "Softshrink": lambda: nn.Softshrink(0.1),
    "Hardshrink": lambda: nn.Hardshrink(0.1),
    "Tanhshrink": nn.Tanhshrink,
    "Hardtanh": lambda: nn.Hardtanh(-0.5, 0.8),
    "Hardswish": nn.Hardswish,
    "Hardsigmoid": nn.Hardsigmoid,
    "LogSigmoid": nn.LogSigmoid,
    "Threshold": lambda: nn.Threshold(0.1, -0.2),
    "PReLU": lambda: nn.PReLU(init=0.1),
    "RReLU": lambda: nn.RReLU(0.1, 0.4),
    "GLU": nn.GLU,
    "Sigmoid": nn.Sigmoid,
    "Tanh": nn.Tanh,
    "Softmin": lambda: nn.Softmin(dim=1),
    "LogSoftmax": lambda: nn.LogSoftmax(dim=1),
    "Softmax": lambda: nn.Softmax(dim=-1),
    "SELU with AlphaDropout": lambda: nn.Sequential(nn.SELU(), nn.AlphaDropout(0.2)),
    "Dropout": lambda: nn.Sequential(nn.Tanh(), nn.Dropout(0.4)),
    "FeatureAlphaDropout": lambda: nn.Sequential(nn.SELU(), nn.FeatureAlphaDropout(0.1)),
}

losses = {
    "CrossEntropyLoss": judged(lambda t: nn.CrossEntropyLoss(weight=torch.tensor([1, 0.5, 2, 1], dtype=t), label_smoothing=0.1), classes),
    "CrossEntropyLoss of probabilities": judged(lambda t: nn.CrossEntropyLoss(reduction="sum"), soft),
    "NLLLoss": judged(
        lambda t: nn.NLLLoss(weight=torch.tensor([1, 0.5, 2, 1], dtype=t), ignore_index=1), classes, head=lambda o: o.log_softmax(1)
    ),
    "BCELoss": judged(lambda t: nn.BCELoss(weight=torch.tensor([1, 0.5, 2, 1], dtype=t)), bits, head=torch.sigmoid),
    "BCEWithLogitsLoss": judged(lambda t: nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1, 3, 2, 0.5], dtype=t)), bits),
    "KLDivLoss": judged(lambda t: nn.KLDivLoss(reduction="batchmean"), soft, head=lambda o: o.log_softmax(1)),
    "KLDivLoss of logs": judged(
        lambda t: nn.KLDivLoss(reduction="batchmean", log_target=True), lambda x: soft(x).log(), head=lambda o: o.log_softmax(1)
    ),
    "PoissonNLLLoss": judged(lambda t: nn.PoissonNLLLoss(full=True), lambda x: x[:, :4].abs().mul(3).round()),
    "GaussianNLLLoss": judged(
        lambda t: lambda mean, raw, y: nn.GaussianNLLLoss(full=True)(mean, y, F.softplus(raw)), lambda x: x[:, :4].sin(), 8, thirds
    ),
    "SmoothL1Loss": judged(lambda t: nn.SmoothL1Loss(beta=0.4, reduction="sum"), lambda x: x[:, :4].sin()),
    "HuberLoss": judged(lambda t: nn.HuberLoss(delta=0.4), lambda x: x[:, :4].sin()),
    "L1Loss": judged(lambda t: nn.L1Loss(), lambda x: x[:, :4].sin()),
    "SoftMarginLoss": judged(lambda t: nn.SoftMarginLoss(), lambda x: bits(x) * 2 - 1),
    "MultiLabelMarginLoss": judged(lambda t: nn.MultiLabelMarginLoss(), labels),
    "MultiLabelSoftMarginLoss": judged(lambda t: nn.MultiLabelSoftMarginLoss(weight=torch.tensor([1, 0.5, 2, 1], dtype=t)), bits),
    "MultiMarginLoss": judged(lambda t: nn.MultiMarginLoss(p=2, margin=0.7), classes),
    "HingeEmbeddingLoss": judged(lambda t: nn.HingeEmbeddingLoss(margin=0.8), lambda x: bits(x) * 2 - 1),
    "MarginRankingLoss": judged(lambda t: nn.MarginRankingLoss(margin=0.3), lambda x: signs(x).unsqueeze(1), 8, thirds),
    "CosineEmbeddingLoss": judged(lambda t: nn.CosineEmbeddingLoss(margin=0.2), signs, 8, thirds),
    "TripletMarginLoss": judged(lambda t: lambda a, p, n, _: nn.TripletMarginLoss(p=2, swap=True)(a, p, n), signs, 12, thirds),
    "TripletMarginWithDistanceLoss": judged(
        lambda t: lambda a, p, n, _: nn.TripletMarginWithDistanceLoss(
            distance_function=lambda u, v: 1 - F.cosine_similarity(u, v), margin=0.5
        )(a, p, n),
        signs,
        12,
        thirds,
    ),
    "CosineSimilarity and PairwiseDistance": judged(
        lambda t: lambda a, b, y: (nn.CosineSimilarity()(a, b) * y).mean() + nn.PairwiseDistance(p=1.5)(a, b).mean(), signs, 8, thirds
    ),
}

programs = {
    **{name: activated(make, 2 if name == "GLU" else 1) for name, make in activations.items()},
    **losses,
    "weightNorm": weight_norm,
    "parametrizations.weightNorm": parametrized_weight_norm,
    "spectralNorm": gan(lambda layer: nn.utils.spectral_norm(layer)),
    "parametrizations.spectralNorm": gan(lambda layer: parametrizations.spectral_norm(layer, n_power_iterations=2)),
    "parametrizations of one's own": parametrized,
    "initializations": initialized,
}
