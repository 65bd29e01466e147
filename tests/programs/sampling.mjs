// Models that draw random numbers: distributions, policies, flows, diffusion.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;
const D = eg.distributions;

function steps(params, lossOf, record, { count = 20, lr = 0.02 } = {}) {
  const optimizer = new optim.Adam(params, { lr });
  for (let step = 0; step < count; step++) {
    optimizer.zeroGrad();
    const loss = lossOf();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return params;
}

const parametersOf = (...modules) => modules.flatMap((module) => [...module.parameters()]);
const sumSquare = (x, ...dim) => x.square().sum(...dim);

function vae(record, dtype) {
  const x = eg.rand([16, 10]).lt(0.3).to(dtype);
  const encoder = new nn.Sequential(new nn.Linear(10, 16), new nn.ReLU(), new nn.Linear(16, 6));
  const decoder = new nn.Sequential(new nn.Linear(3, 16), new nn.ReLU(), new nn.Linear(16, 10));
  encoder.to(dtype);
  decoder.to(dtype);
  const standard = new D.Normal(eg.zeros([3], { dtype }), eg.ones([3], { dtype }));
  const prior = new D.Independent(standard, 1);
  const lossOf = () => {
    const [loc, raw] = encoder.call(x).chunk(2, { dim: -1 });
    const q = new D.Independent(new D.Normal(loc, F.softplus(raw).add(1e-4)), 1);
    const z = q.rsample();
    const p = new D.Independent(new D.Bernoulli({ logits: decoder.call(z) }), 1);
    return D.klDivergence(q, prior).sub(p.logProb(x)).mean();
  };
  const params = steps(parametersOf(encoder, decoder), lossOf, record);
  const drawn = new D.Bernoulli({ logits: decoder.call(prior.sample([4])) }).sample();
  record(drawn.sum());
  return params;
}

function betaVae(record, dtype) {
  const x = eg.rand([12, 8], { dtype });
  const encoder = new nn.Linear(8, 4).to(dtype);
  const decoder = new nn.Linear(2, 8).to(dtype);
  const lossOf = () => {
    const [mu, logvar] = encoder.call(x).chunk(2, 1);
    const z = mu.add(eg.randnLike(mu).mul(logvar.mul(0.5).exp()));
    const recon = F.binaryCrossEntropy(decoder.call(z).sigmoid(), x, { reduction: "sum" });
    const spread = eg.sum(logvar.add(1).sub(mu.pow(2)).sub(logvar.exp()));
    return recon.sub(spread.mul(0.5 * 4)).div(12);
  };
  return steps(parametersOf(encoder, decoder), lossOf, record);
}

/** A contextual bandit, rewarded for the right action. */
function reinforce(record, dtype) {
  const policy = new nn.Sequential(new nn.Linear(4, 16), new nn.Tanh(), new nn.Linear(16, 3));
  const optimizer = new optim.Adam(policy.to(dtype).parameters(), { lr: 0.02 });
  let baseline = 0;
  for (let step = 0; step < 25; step++) {
    const states = eg.randn([10, 4], { dtype });
    const m = new D.Categorical({ logits: policy.call(states) });
    const action = m.sample();
    const right = states.at(eg.slice(), eg.slice(null, 3)).argmax(1);
    const reward = action.eq(right).to(dtype);
    baseline = 0.9 * baseline + 0.1 * reward.mean().item();
    const gained = m.logProb(action).mul(reward.sub(baseline)).mean();
    const loss = gained.neg().sub(m.entropy().mean().mul(0.01));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return policy.parameters();
}

/** PPO on one batch of continuous actions. */
function actorCritic(record, dtype) {
  const states = eg.randn([24, 3], { dtype });
  const actor = new nn.Linear(3, 2).to(dtype);
  const critic = new nn.Linear(3, 1).to(dtype);
  const logStd = new nn.Parameter(eg.zeros([2], { dtype }));
  const dist = () => {
    const scaleTril = eg.diagEmbed(logStd.exp().expand([24, 2]));
    return new D.MultivariateNormal(actor.call(states), { scaleTril });
  };
  const [action, old, rewards] = eg.noGrad(() => {
    const sample = dist().sample();
    const wanted = states.at(eg.slice(), eg.slice(null, 2));
    return [sample, dist().logProb(sample), sumSquare(sample.sub(wanted), 1).neg()];
  });
  const lossOf = () => {
    const d = dist();
    const value = critic.call(states).squeeze(1);
    const raw = rewards.sub(value).detach();
    const advantage = raw.sub(raw.mean()).div(raw.std().add(1e-8));
    const ratio = d.logProb(action).sub(old).exp();
    const surrogate = eg.min(ratio.mul(advantage), ratio.clamp(0.8, 1.2).mul(advantage));
    const ofValue = F.mseLoss(value, rewards).mul(0.5);
    return ofValue.sub(surrogate.mean()).sub(d.entropy().mean().mul(0.01));
  };
  return steps([...parametersOf(actor, critic), logStd], lossOf, record);
}

/** A squashed normal distribution, with gradients through its samples. */
function sacHead(record, dtype) {
  const states = eg.randn([16, 3], { dtype });
  const net = new nn.Linear(3, 4).to(dtype);
  const lossOf = () => {
    const [mean, logStd] = net.call(states).chunk(2, -1);
    const base = new D.Normal(mean, logStd.clamp(-5, 2).exp());
    const squash = [new D.TanhTransform(), new D.AffineTransform(0.1, 2)];
    const policy = new D.TransformedDistribution(base, squash);
    const action = policy.rsample();
    const missed = action.sub(states.at(eg.slice(), eg.slice(null, 2)));
    return policy.logProb(action).sum(-1).mul(0.2).add(sumSquare(missed, -1)).mean();
  };
  return steps(net.parameters(), lossOf, record);
}

class Coupling extends nn.Module {
  constructor(flip) {
    super();
    this.flip = flip;
    this.net = new nn.Sequential(new nn.Linear(1, 16), new nn.Tanh(), new nn.Linear(16, 2));
  }

  forward(x) {
    let [a, b] = x.chunk(2, 1);
    if (this.flip) [a, b] = [b, a];
    const [raw, t] = this.net.call(a).chunk(2, 1);
    const logS = raw.tanh();
    b = b.mul(logS.exp()).add(t);
    return [eg.cat(this.flip ? [b, a] : [a, b], 1), logS.squeeze(1)];
  }
}

function realNvp(record, dtype) {
  const angle = eg.rand([40], { dtype }).mul(6.28);
  const noise = eg.randn([40, 2], { dtype }).mul(0.05);
  const x = eg.stack([angle.cos(), angle.sin()], 1).add(noise);
  const flow = new nn.ModuleList([0, 1, 2, 3].map((i) => new Coupling(i % 2 === 1))).to(dtype);
  const base = new D.MultivariateNormal(eg.zeros([2], { dtype }), eg.eye(2, { dtype }));
  const lossOf = () => {
    let z = x;
    let total = eg.zeros([], { dtype });
    for (const layer of flow) {
      const [next, logDet] = layer.call(z);
      z = next;
      total = total.add(logDet);
    }
    return base.logProb(z).add(total).mean().neg();
  };
  return steps(flow.parameters(), lossOf, record);
}

function transformed(record, dtype) {
  const x = eg.rand([30], { dtype }).mul(0.9).add(0.05);
  const [a, b] = [0.2, -0.3].map((value) => new nn.Parameter(eg.tensor(value, { dtype })));
  const lossOf = () => {
    const base = new D.Normal(eg.zeros([], { dtype }), 1);
    const transforms = [new D.AffineTransform(a, b.exp()), new D.SigmoidTransform()];
    return new D.TransformedDistribution(base, transforms).logProb(x).mean().neg();
  };
  const params = steps([a, b], lossOf, record);
  const chain = new D.ComposeTransform([
    new D.ExpTransform(),
    new D.AffineTransform(1, 2),
    new D.PowerTransform(eg.tensor(0.5, { dtype })),
  ]);
  const y = chain.call(x);
  record(y.sum());
  record(chain.inv.call(y).sum());
  record(chain.logAbsDetJacobian(x, y).sum());
  record(sumSquare(new D.StickBreakingTransform().call(x.view([10, 3]))));
  return params;
}

function gumbel(hard) {
  return (record, dtype) => {
    const x = eg.randn([12, 6], { dtype });
    const encoder = new nn.Linear(6, 8).to(dtype);
    const decoder = new nn.Linear(8, 6).to(dtype);
    let tau = 1;
    const lossOf = () => {
      const code = F.gumbelSoftmax(encoder.call(x).view([12, 2, 4]), { tau, hard }).flatten(1);
      tau *= 0.97;
      return F.mseLoss(decoder.call(code), x);
    };
    return steps(parametersOf(encoder, decoder), lossOf, record);
  };
}

/** A maximum-likelihood fit to samples of a distribution of the same class. */
function fitted(make, draw) {
  return (record, dtype) => {
    const given = draw(dtype);
    const data = make(...given).sample([40]);
    record(data.to("float64").sum());
    const raw = given.map((p, i) => new nn.Parameter(eg.fullLike(p, [0.3, 0.6][i])));
    const lossOf = () =>
      make(...raw)
        .logProb(data)
        .mean()
        .neg();
    return steps(raw, lossOf, record, { count: 15, lr: 0.05 });
  };
}

const positive = (Kind) => {
  return (...raw) => new Kind(...raw.map((p) => F.softplus(p)));
};
const scaled = (Kind) => (loc, raw) => new Kind(loc, F.softplus(raw));
const ofLogits = (Kind) => (logits) => new Kind({ logits });
const two = (a, b) => (dtype) => [eg.tensor([a, b], { dtype }), eg.tensor([b, a], { dtype })];
const one = (a, b) => (dtype) => [eg.tensor([a, b], { dtype })];

/** Gradients through samples: fits the parameters so that the samples match a target. */
function matched(make, rows = 1) {
  return (record, dtype) => {
    const raw = Array.from({ length: rows }, (_, i) => {
      return new nn.Parameter(eg.linspace(0.9, 1.6, 4, { dtype }).add(i));
    });
    const lossOf = () => {
      const d = make(...raw);
      const x = d.rsample([8]);
      const loss = sumSquare(x.sub(0.4), -1).mean();
      return rows < 3 ? loss.add(d.entropy().mean().mul(0.1)) : loss;
    };
    return steps(raw, lossOf, record, { count: 15 });
  };
}

function divergences(record, dtype) {
  const raw = new nn.Parameter(eg.tensor([0.3, 0.8, 1.2], { dtype }));
  const kl = (p, q) => D.klDivergence(p, q).sum();
  const lossOf = () => {
    const a = F.softplus(raw);
    const b = raw.sin().add(1.5);
    const all = [
      kl(new D.Normal(raw, a), new D.Normal(0, b)),
      kl(new D.Gamma(a, b), new D.Gamma(b, a)),
      kl(new D.Beta(a, b), new D.Beta(b, a.add(1))),
      kl(new D.Dirichlet(a), new D.Dirichlet(b)),
      kl(new D.Categorical({ logits: raw }), new D.Categorical({ logits: raw.flip(0) })),
      kl(new D.Bernoulli(raw.sigmoid()), new D.Bernoulli(b.div(3))),
      kl(new D.Laplace(raw, a), new D.Laplace(b, 1)),
      kl(new D.Exponential(a), new D.Exponential(b)),
      kl(new D.Poisson(a), new D.Poisson(b)),
      kl(new D.Geometric(raw.sigmoid()), new D.Geometric(b.div(3))),
      kl(new D.Gumbel(raw, a), new D.Gumbel(b, a.add(1))),
      kl(new D.LogNormal(raw, a), new D.LogNormal(b, 1)),
    ];
    return all.reduce((x, y) => x.add(y));
  };
  return steps([raw], lossOf, record, { count: 15 });
}

function mixture(record, dtype) {
  const left = eg.randn([20], { dtype }).sub(2);
  const x = eg.cat([left, eg.randn([20], { dtype }).mul(0.5).add(1)]);
  const weights = new nn.Parameter(eg.zeros([3], { dtype }));
  const means = new nn.Parameter(eg.linspace(-1, 1, 3, { dtype }));
  const spread = new nn.Parameter(eg.zeros([3], { dtype }));
  const dist = () => {
    const parts = new D.Normal(means, spread.exp());
    return new D.MixtureSameFamily(new D.Categorical({ logits: weights }), parts);
  };
  const lossOf = () => dist().logProb(x).mean().neg();
  const params = steps([weights, means, spread], lossOf, record, { lr: 0.05 });
  record(dist().sample([5]).sum());
  return params;
}

/** DDPM on points, followed by sampling. */
function diffusion(record, dtype) {
  const x0 = eg
    .randn([32, 2], { dtype })
    .mul(0.1)
    .add(eg.tensor([1, -1], { dtype }));
  const betas = eg.linspace(1e-3, 0.2, 10, { dtype });
  const alphasBar = eg.cumprod(eg.sub(1, betas), { dim: 0 });
  const net = new nn.Sequential(new nn.Linear(3, 24), new nn.SiLU(), new nn.Linear(24, 2));
  net.to(dtype);
  const lossOf = () => {
    const t = eg.randint(0, 10, [32]);
    const noise = eg.randnLike(x0);
    const a = alphasBar.at(t).unsqueeze(1);
    const xt = a.sqrt().mul(x0).add(eg.sub(1, a).sqrt().mul(noise));
    return F.mseLoss(net.call(eg.cat([xt, t.unsqueeze(1).div(10)], 1).to(dtype)), noise);
  };
  const params = steps(net.parameters(), lossOf, record);
  eg.noGrad(() => {
    let x = eg.randn([5, 2], { dtype });
    for (let t = 9; t >= 0; t--) {
      const eps = net.call(eg.cat([x, eg.full([5, 1], t / 10, { dtype })], 1));
      const beta = betas.at(t);
      const share = beta.div(eg.sub(1, alphasBar.at(t)).sqrt());
      x = x.sub(share.mul(eps)).div(eg.sub(1, beta).sqrt());
      if (t > 0) x = x.add(beta.sqrt().mul(eg.randnLike(x)));
    }
    record(x.sum());
  });
  return params;
}

/** Skip-grams with negative samples, drawn with and without replacement. */
function word2vec(record, dtype) {
  const words = eg.randint(0, 20, [60]);
  const frequencies = eg.bincount(words, { minlength: 20 }).to(dtype).pow(0.75);
  const inside = new nn.Embedding(20, 6).to(dtype);
  const outside = new nn.Embedding(20, 6).to(dtype);
  nn.init.uniform_(inside.weight, -0.1, 0.1);
  nn.init.zeros_(outside.weight);
  const params = parametersOf(inside, outside);
  const optimizer = new optim.SGD(params, { lr: 1 });
  for (let step = 0; step < 20; step++) {
    const center = eg.multinomial(frequencies, 8, { replacement: false });
    const context = words.at(eg.randperm(60).at(eg.slice(null, 8)));
    const negatives = eg.multinomial(frequencies.expand([8, 20]), 4, { replacement: true });
    const v = inside.call(center);
    const near = F.logsigmoid(v.mul(outside.call(context)).sum(1));
    const scores = eg.bmm(outside.call(negatives), v.unsqueeze(2)).squeeze(2);
    const loss = near.add(F.logsigmoid(scores.neg()).sum(1)).mean().neg();
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return params;
}

const studentT = (df, scale) => new D.StudentT(F.softplus(df).add(2), 0.5, F.softplus(scale));
const kCovariance = [
  [1.5, 0.4],
  [0.4, 0.7],
];
const multivariateNormal = (loc) => {
  return new D.MultivariateNormal(loc, eg.tensor(kCovariance, { dtype: loc.dtype }));
};
const relaxed = (Kind) => (a, b) => {
  return new Kind(eg.tensor(0.7, { dtype: a.dtype }), { logits: a.mul(b) });
};

export const programs = {
  "VAE of distributions": vae,
  "beta-VAE": betaVae,
  REINFORCE: reinforce,
  PPO: actorCritic,
  "squashed normal": sacHead,
  RealNVP: realNvp,
  transforms: transformed,
  "Gumbel softmax": gumbel(false),
  "Gumbel softmax, hard": gumbel(true),
  Normal: fitted(scaled(D.Normal), two(0.5, 1.5)),
  LogNormal: fitted(scaled(D.LogNormal), two(0.2, 0.5)),
  Laplace: fitted(scaled(D.Laplace), two(0.5, 1.5)),
  Gumbel: fitted(scaled(D.Gumbel), two(0.5, 1.5)),
  Exponential: fitted(positive(D.Exponential), one(0.5, 1.5)),
  Gamma: fitted(positive(D.Gamma), two(0.5, 1.5)),
  Beta: fitted(positive(D.Beta), two(0.5, 1.5)),
  Dirichlet: fitted(positive(D.Dirichlet), one(0.5, 1.5)),
  Poisson: fitted(positive(D.Poisson), one(0.5, 3.5)),
  Bernoulli: fitted(ofLogits(D.Bernoulli), one(0.5, -1.5)),
  Binomial: fitted((logits) => new D.Binomial(7, { logits }), one(0.5, -1.5)),
  Geometric: fitted(ofLogits(D.Geometric), one(0.5, -0.5)),
  Categorical: fitted(ofLogits(D.Categorical), one(0.5, -0.5)),
  OneHotCategorical: fitted(ofLogits(D.OneHotCategorical), one(0.5, -0.5)),
  StudentT: fitted(studentT, two(2.5, 1.5)),
  MultivariateNormal: fitted(multivariateNormal, one(0.5, -0.5)),
  Cauchy: fitted(scaled(D.Cauchy), two(0.5, 1.5)),
  HalfNormal: fitted(positive(D.HalfNormal), one(0.5, 1.5)),
  "Gamma, through samples": matched((a) => new D.Gamma(a, a.add(1))),
  "Beta, through samples": matched((a, b) => new D.Beta(a, b), 2),
  "Dirichlet, through samples": matched((a) => new D.Dirichlet(a), 3),
  "StudentT, through samples": matched((a) => new D.StudentT(a.add(3), a, a)),
  "Laplace, through samples": matched((a) => new D.Laplace(a, a.exp())),
  "Uniform, through samples": matched((a, b) => new D.Uniform(a, b.add(1)), 2),
  "relaxed Bernoulli": matched(relaxed(D.RelaxedBernoulli), 3),
  "relaxed one-hot": matched(relaxed(D.RelaxedOneHotCategorical), 3),
  "straight-through one-hot": matched(
    (a, b) => new D.OneHotCategoricalStraightThrough({ logits: a.mul(b) }),
    3,
  ),
  divergences,
  mixture,
  DDPM: diffusion,
  word2vec,
};
