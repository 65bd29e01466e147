# Models that draw random numbers: distributions, policies, flows, diffusion.

import math

import torch
from torch import distributions as D
from torch import nn, optim
from torch.nn import functional as F


def steps(params, loss_of, record, count=20, lr=0.02):
    params = list(params)
    optimizer = optim.Adam(params, lr=lr)
    for _ in range(count):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        record(loss)
    return params


def vae(record, dtype):
    x = (torch.rand(16, 10) < 0.3).to(dtype)
    encoder = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 6)).to(dtype)
    decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 10)).to(dtype)
    prior = D.Independent(D.Normal(torch.zeros(3, dtype=dtype), torch.ones(3, dtype=dtype)), 1)

    def loss_of():
        loc, raw = encoder(x).chunk(2, dim=-1)
        q = D.Independent(D.Normal(loc, F.softplus(raw) + 1e-4), 1)
        z = q.rsample()
        p = D.Independent(D.Bernoulli(logits=decoder(z)), 1)
        return (D.kl_divergence(q, prior) - p.log_prob(x)).mean()

    params = steps([*encoder.parameters(), *decoder.parameters()], loss_of, record)
    record(D.Bernoulli(logits=decoder(prior.sample((4,)))).sample().sum())
    return params


def beta_vae(record, dtype):
    x = torch.rand(12, 8, dtype=dtype)
    encoder, decoder = nn.Linear(8, 4).to(dtype), nn.Linear(2, 8).to(dtype)

    def loss_of():
        mu, logvar = encoder(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        recon = F.binary_cross_entropy(torch.sigmoid(decoder(z)), x, reduction="sum")
        return (recon - 0.5 * 4 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())) / 12

    return steps([*encoder.parameters(), *decoder.parameters()], loss_of, record)


def reinforce(record, dtype):
    """A bandit with states; the reward is of the right action."""
    policy = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)).to(dtype)
    optimizer = optim.Adam(policy.parameters(), lr=0.02)
    baseline = 0.0
    for _ in range(25):
        states = torch.randn(10, 4, dtype=dtype)
        m = D.Categorical(logits=policy(states))
        action = m.sample()
        reward = (action == states[:, :3].argmax(1)).to(dtype)
        baseline = 0.9 * baseline + 0.1 * reward.mean().item()
        loss = -(m.log_prob(action) * (reward - baseline)).mean() - 0.01 * m.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return policy.parameters()


def actor_critic(record, dtype):
    """PPO on one batch of continuous actions."""
    states = torch.randn(24, 3, dtype=dtype)
    actor, critic = nn.Linear(3, 2).to(dtype), nn.Linear(3, 1).to(dtype)
    log_std = nn.Parameter(torch.zeros(2, dtype=dtype))
    dist = lambda: D.MultivariateNormal(actor(states), scale_tril=torch.diag_embed(log_std.exp().expand(24, 2)))
    with torch.no_grad():
        action = dist().sample()
        old = dist().log_prob(action)
        rewards = -(action - states[:, :2]).square().sum(1)

    def loss_of():
        d = dist()
        value = critic(states).squeeze(1)
        advantage = (rewards - value).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = (d.log_prob(action) - old).exp()
        surrogate = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)
        return -surrogate.mean() + 0.5 * F.mse_loss(value, rewards) - 0.01 * d.entropy().mean()

    return steps([*actor.parameters(), *critic.parameters(), log_std], loss_of, record)


def sac_head(record, dtype):
    """A squashed normal whose samples carry gradients."""
    states = torch.randn(16, 3, dtype=dtype)
    net = nn.Linear(3, 4).to(dtype)

    def loss_of():
        mean, log_std = net(states).chunk(2, -1)
        base = D.Normal(mean, log_std.clamp(-5, 2).exp())
        policy = D.TransformedDistribution(base, [D.TanhTransform(cache_size=1), D.AffineTransform(0.1, 2.0)])
        action = policy.rsample()
        return (0.2 * policy.log_prob(action).sum(-1) + (action - states[:, :2]).square().sum(-1)).mean()

    return steps(net.parameters(), loss_of, record)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).chunk(2, 1)
        log_s = torch.tanh(log_s)
        b = b * log_s.exp() + t
        return (torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)), log_s.squeeze(1)


def real_nvp(record, dtype):
    angle = torch.rand(40, dtype=dtype) * 6.28
    x = torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(40, 2, dtype=dtype)
    flow = nn.ModuleList([Coupling(i % 2 == 1) for i in range(4)]).to(dtype)
    base = D.MultivariateNormal(torch.zeros(2, dtype=dtype), torch.eye(2, dtype=dtype))

    def loss_of():
        z, total = x, 0
        for layer in flow:
            z, log_det = layer(z)
            total = total + log_det
        return -(base.log_prob(z) + total).mean()

    return steps(flow.parameters(), loss_of, record)


def transformed(record, dtype):
    x = torch.rand(30, dtype=dtype) * 0.9 + 0.05
    a, b = nn.Parameter(torch.tensor(0.2, dtype=dtype)), nn.Parameter(torch.tensor(-0.3, dtype=dtype))

    def loss_of():
        base = D.Normal(torch.zeros((), dtype=dtype), 1.0)
        flow = D.TransformedDistribution(base, [D.AffineTransform(a, b.exp()), D.SigmoidTransform()])
        return -flow.log_prob(x).mean()

    params = steps([a, b], loss_of, record)
    chain = D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0), D.PowerTransform(torch.tensor(0.5, dtype=dtype))])
    y = chain(x)
    record(y.sum())
    record(chain.inv(y).sum())
    record(chain.log_abs_det_jacobian(x, y).sum())
    record(D.StickBreakingTransform()(x.view(10, 3)).square().sum())
    return params


def gumbel(hard):
    def program(record, dtype):
        x = torch.randn(12, 6, dtype=dtype)
        encoder, decoder = nn.Linear(6, 8).to(dtype), nn.Linear(8, 6).to(dtype)
        temperature = [1.0]

        def loss_of():
            code = F.gumbel_softmax(encoder(x).view(12, 2, 4), tau=temperature[0], hard=hard).flatten(1)
            temperature[0] *= 0.97
            return F.mse_loss(decoder(code), x)

        return steps([*encoder.parameters(), *decoder.parameters()], loss_of, record)

    return program


def fitted(make, draw, start=(0.3, 0.6)):
    """A maximum-likelihood fit of samples of a distribution of the same kind."""

    def program(record, dtype):
        data = make(*draw(dtype)).sample((40,))
        record(data.to(torch.float64).sum())
        raw = [nn.Parameter(torch.full_like(p, start[i])) for i, p in enumerate(draw(dtype))]
        return steps(raw, lambda: -make(*raw).log_prob(data).mean(), record, count=15, lr=0.05)

    return program


def positive(make):
    return lambda *raw: make(*(F.softplus(p) for p in raw))


def scaled(make):
    return lambda loc, raw: make(loc, F.softplus(raw))


def two(a, b):
    return lambda dtype: (torch.tensor([a, b], dtype=dtype), torch.tensor([b, a], dtype=dtype))


def one(a, b):
    return lambda dtype: (torch.tensor([a, b], dtype=dtype),)


def matched(make, rows=1):
    """Gradients through samples: the parameters follow what the samples are wanted to be."""

    def program(record, dtype):
        raw = [nn.Parameter(torch.linspace(0.9, 1.6, 4, dtype=dtype) + i) for i in range(rows)]

        def loss_of():
            d = make(*raw)
            x = d.rsample((8,))
            return (x - 0.4).square().sum(-1).mean() + (0.1 * d.entropy().mean() if rows < 3 else 0)

        return steps(raw, loss_of, record, count=15)

    return program


def divergences(record, dtype):
    raw = nn.Parameter(torch.tensor([0.3, 0.8, 1.2], dtype=dtype))

    def loss_of():
        a, b = F.softplus(raw), raw.sin() + 1.5
        return (
            D.kl_divergence(D.Normal(raw, a), D.Normal(0.0, b)).sum()
            + D.kl_divergence(D.Gamma(a, b), D.Gamma(b, a)).sum()
            + D.kl_divergence(D.Beta(a, b), D.Beta(b, a + 1)).sum()
            + D.kl_divergence(D.Dirichlet(a), D.Dirichlet(b))
            + D.kl_divergence(D.Categorical(logits=raw), D.Categorical(logits=raw.flip(0)))
            + D.kl_divergence(D.Bernoulli(raw.sigmoid()), D.Bernoulli(b / 3)).sum()
            + D.kl_divergence(D.Laplace(raw, a), D.Laplace(b, 1.0)).sum()
            + D.kl_divergence(D.Exponential(a), D.Exponential(b)).sum()
            + D.kl_divergence(D.Poisson(a), D.Poisson(b)).sum()
            + D.kl_divergence(D.Geometric(raw.sigmoid()), D.Geometric(b / 3)).sum()
            + D.kl_divergence(D.Gumbel(raw, a), D.Gumbel(b, a + 1)).sum()
            + D.kl_divergence(D.LogNormal(raw, a), D.LogNormal(b, 1.0)).sum()
        )

    return steps([raw], loss_of, record, count=15)


def mixture(record, dtype):
    x = torch.cat([torch.randn(20, dtype=dtype) - 2, torch.randn(20, dtype=dtype) * 0.5 + 1])
    weights = nn.Parameter(torch.zeros(3, dtype=dtype))
    means = nn.Parameter(torch.linspace(-1, 1, 3, dtype=dtype))
    spread = nn.Parameter(torch.zeros(3, dtype=dtype))

    def loss_of():
        d = D.MixtureSameFamily(D.Categorical(logits=weights), D.Normal(means, spread.exp()))
        return -d.log_prob(x).mean()

    params = steps([weights, means, spread], loss_of, record, lr=0.05)
    record(D.MixtureSameFamily(D.Categorical(logits=weights), D.Normal(means, spread.exp())).sample((5,)).sum())
    return params


def diffusion(record, dtype):
    """DDPM on points, then sampling from it."""
    x0 = torch.randn(32, 2, dtype=dtype) * 0.1 + torch.tensor([1.0, -1.0], dtype=dtype)
    betas = torch.linspace(1e-3, 0.2, 10, dtype=dtype)
    alphas_bar = torch.cumprod(1 - betas, dim=0)
    net = nn.Sequential(nn.Linear(3, 24), nn.SiLU(), nn.Linear(24, 2)).to(dtype)

    def loss_of():
        t = torch.randint(0, 10, (32,))
        noise = torch.randn_like(x0)
        a = alphas_bar[t].unsqueeze(1)
        xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
        return F.mse_loss(net(torch.cat([xt, t.unsqueeze(1) / 10], 1).to(dtype)), noise)

    params = steps(net.parameters(), loss_of, record)
    with torch.no_grad():
        x = torch.randn(5, 2, dtype=dtype)
        for t in reversed(range(10)):
            eps = net(torch.cat([x, torch.full((5, 1), t / 10, dtype=dtype)], 1))
            x = (x - betas[t] / (1 - alphas_bar[t]).sqrt() * eps) / (1 - betas[t]).sqrt()
            if t > 0:
                x = x + betas[t].sqrt() * torch.randn_like(x)
    record(x.sum())
    return params


def word2vec(record, dtype):
    """Skip-grams with negative samples, drawn with and without replacement."""
    words = torch.randint(0, 20, (60,))
    frequencies = torch.bincount(words, minlength=20).to(dtype).pow(0.75)
    inside, outside = nn.Embedding(20, 6).to(dtype), nn.Embedding(20, 6).to(dtype)
    nn.init.uniform_(inside.weight, -0.1, 0.1)
    nn.init.zeros_(outside.weight)
    optimizer = optim.SGD([*inside.parameters(), *outside.parameters()], lr=1.0)
    for step in range(20):
        center = torch.multinomial(frequencies, 8, replacement=False)
        context = words[torch.randperm(60)[:8]]
        negatives = torch.multinomial(frequencies.expand(8, 20), 4, replacement=True)
        v = inside(center)
        positive_loss = F.logsigmoid((v * outside(context)).sum(1))
        negative_loss = F.logsigmoid(-torch.bmm(outside(negatives), v.unsqueeze(2)).squeeze(2)).sum(1)
        loss = -(positive_loss + negative_loss).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return [*inside.parameters(), *outside.parameters()]


programs = {
    "VAE of distributions": vae,
    "beta-VAE": beta_vae,
    "REINFORCE": reinforce,
    "PPO": actor_critic,
    "squashed normal": sac_head,
    "RealNVP": real_nvp,
    "transforms": transformed,
    "Gumbel softmax": gumbel(False),
    "Gumbel softmax, hard": gumbel(True),
    "Normal": fitted(scaled(D.Normal), two(0.5, 1.5)),
    "LogNormal": fitted(scaled(D.LogNormal), two(0.2, 0.5)),
    "Laplace": fitted(scaled(D.Laplace), two(0.5, 1.5)),
    "Gumbel": fitted(scaled(D.Gumbel), two(0.5, 1.5)),
    "Exponential": fitted(positive(D.Exponential), one(0.5, 1.5)),
    "Gamma": fitted(positive(D.Gamma), two(0.5, 1.5)),
    "Beta": fitted(positive(D.Beta), two(0.5, 1.5)),
    "Dirichlet": fitted(positive(D.Dirichlet), one(0.5, 1.5)),
    "Poisson": fitted(positive(D.Poisson), one(0.5, 3.5)),
    "Bernoulli": fitted(lambda raw: D.Bernoulli(logits=raw), one(0.5, -1.5)),
    "Binomial": fitted(lambda raw: D.Binomial(7, logits=raw), one(0.5, -1.5)),
    "Geometric": fitted(lambda raw: D.Geometric(logits=raw), one(0.5, -0.5)),
    "Categorical": fitted(lambda raw: D.Categorical(logits=raw), one(0.5, -0.5)),
    "OneHotCategorical": fitted(lambda raw: D.OneHotCategorical(logits=raw), one(0.5, -0.5)),
    "StudentT": fitted(lambda df, scale: D.StudentT(F.softplus(df) + 2, 0.5, F.softplus(scale)), two(2.5, 1.5)),
    "MultivariateNormal": fitted(
        lambda loc: D.MultivariateNormal(loc, torch.tensor([[1.5, 0.4], [0.4, 0.7]], dtype=loc.dtype)), one(0.5, -0.5)
    ),
    "Cauchy": fitted(scaled(D.Cauchy), two(0.5, 1.5)),
    "HalfNormal": fitted(positive(D.HalfNormal), one(0.5, 1.5)),
    "Gamma, through samples": matched(lambda a: D.Gamma(a, 1 + a)),
    "Beta, through samples": matched(lambda a, b: D.Beta(a, b), rows=2),
    "Dirichlet, through samples": matched(lambda a, *_: D.Dirichlet(a), rows=3),
    "StudentT, through samples": matched(lambda a: D.StudentT(a + 3, a, a)),
    "Laplace, through samples": matched(lambda a: D.Laplace(a, a.exp())),
    "Uniform, through samples": matched(lambda a, b: D.Uniform(a, b + 1), rows=2),
    "relaxed Bernoulli": matched(lambda a, b, _: D.RelaxedBernoulli(torch.tensor(0.7, dtype=a.dtype), logits=a * b), rows=3),
    "relaxed one-hot": matched(lambda a, b, _: D.RelaxedOneHotCategorical(torch.tensor(0.7, dtype=a.dtype), logits=a * b), rows=3),
    "straight-through one-hot": matched(lambda a, b, _: D.OneHotCategoricalStraightThrough(logits=a * b), rows=3),
    "divergences": divergences,
    "mixture": mixture,
    "DDPM": diffusion,
    "word2vec": word2vec,
}
