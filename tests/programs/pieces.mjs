// Activations, losses, and parametrized layers in a small network.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;
const { parametrizations, parametrize } = nn.utils;

function activated(make, share = 1) {
  return (record, dtype) => {
    const x = eg.randn([20, 5], { dtype });
    const y = x.square().sum(1, { keepdim: true }).sqrt();
    const model = new nn.Sequential(
      new nn.Linear(5, 12),
      make(),
      new nn.Linear(12 / share, 8),
      make(),
      new nn.Linear(8 / share, 1),
    ).to(dtype);
    const optimizer = new optim.SGD(model.parameters(), { lr: 0.005, momentum: 0.9 });
    for (let step = 0; step < 20; step++) {
      const loss = F.mseLoss(model.call(x), y);
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      record(loss);
    }
    model.eval();
    record(eg.noGrad(() => F.mseLoss(model.call(x), y)));
    return model.parameters();
  };
}

/** Trains a network whose outputs `criterion` compares with target(x). */
function judged(criterion, target, outputs = 4, head = (out) => out) {
  return (record, dtype) => {
    const x = eg.randn([16, 5], { dtype });
    const wanted = [target(x)].flat();
    const model = new nn.Sequential(
      new nn.Linear(5, 10),
      new nn.Tanh(),
      new nn.Linear(10, outputs),
    );
    const optimizer = new optim.Adam(model.to(dtype).parameters(), { lr: 0.02 });
    for (let step = 0; step < 15; step++) {
      const out = [head(model.call(x))].flat();
      const judge = criterion(dtype);
      const loss = judge.call(...(judge instanceof nn.Module ? [] : [null]), ...out, ...wanted);
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      record(loss);
    }
    return model.parameters();
  };
}

const firstFour = (x) => x.at(eg.slice(), eg.slice(null, 4));
const classes = (x) => firstFour(x).mul(3).argmax(1);
const signs = (x) => x.at(eg.slice(), 0).sign();
const soft = (x) => firstFour(x).softmax(1);
const bits = (x) => firstFour(x).gt(0).to(x.dtype);
const sines = (x) => firstFour(x).sin();
const labels = (x) => firstFour(x).argsort(1).set_([eg.slice(), 2], -1);
const thirds = (out) => out.split(4, 1);
const byLogs = (out) => out.logSoftmax(1);
const weightOf = (dtype) => eg.tensor([1, 0.5, 2, 1], { dtype });

function weightNorm(record, dtype) {
  const x = eg.randn([10, 3, 12], { dtype });
  const conv = nn.utils.weightNorm(new nn.Conv1d(3, 4, 3).to(dtype));
  const line = nn.utils.weightNorm(new nn.Linear(40, 2).to(dtype), { dim: null });
  const model = new nn.Sequential(conv, new nn.Tanh(), new nn.Flatten(), line);
  const optimizer = new optim.Adam(model.parameters(), { lr: 0.02 });
  for (let step = 0; step < 20; step++) {
    const sum = model.call(x).sum().sub(3).square();
    const loss = model.call(x).square().mean().add(sum);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  nn.utils.removeWeightNorm(conv);
  record(model.call(x).sum());
  return model.parameters();
}

function parametrizedWeightNorm(record, dtype) {
  const x = eg.randn([10, 6], { dtype });
  const model = new nn.Sequential(
    parametrizations.weightNorm(new nn.Linear(6, 8).to(dtype)),
    new nn.SiLU(),
    parametrizations.weightNorm(new nn.Linear(8, 1).to(dtype), { dim: 1 }),
  );
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.05, momentum: 0.9 });
  for (let step = 0; step < 20; step++) {
    const norms = x.norm({ dim: 1 });
    const loss = F.smoothL1Loss(model.call(x).squeeze(1), norms, { beta: 0.5 });
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return model.parameters();
}

/** A WGAN whose critic uses spectral normalization. */
function gan(normed) {
  return (record, dtype) => {
    const generator = new nn.Sequential(
      new nn.Linear(3, 16),
      new nn.LeakyReLU(0.2),
      new nn.Linear(16, 2),
    ).to(dtype);
    const critic = new nn.Sequential(
      normed(new nn.Linear(2, 16).to(dtype)),
      new nn.LeakyReLU(0.2),
      normed(new nn.Linear(16, 1).to(dtype)),
    );
    const settings = { lr: 5e-3, betas: [0.5, 0.9] };
    const ofGenerator = new optim.Adam(generator.parameters(), settings);
    const ofCritic = new optim.Adam(critic.parameters(), settings);
    let real;
    for (let step = 0; step < 15; step++) {
      const angle = eg.rand([16, 1], { dtype }).mul(6.28);
      real = eg.cat([angle.cos(), angle.sin()], 1);
      const fake = generator.call(eg.randn([16, 3], { dtype }));
      const judgedReal = F.relu(eg.sub(1, critic.call(real))).mean();
      const judgedFake = F.relu(critic.call(fake.detach()).add(1)).mean();
      const criticLoss = judgedReal.add(judgedFake);
      ofCritic.zeroGrad();
      criticLoss.backward();
      ofCritic.step();
      const generatorLoss = critic.call(fake).mean().neg();
      ofGenerator.zeroGrad();
      generatorLoss.backward();
      ofGenerator.step();
      record(criticLoss);
      record(generatorLoss);
    }
    critic.eval();
    record(critic.call(real).sum());
    return [...generator.parameters(), ...critic.parameters()];
  };
}

class Symmetric extends nn.Module {
  forward(w) {
    return w.triu().add(w.triu(1).transpose(-1, -2));
  }

  rightInverse(w) {
    return w.triu();
  }
}

class Exponential extends nn.Module {
  forward(w) {
    return eg.matrixExp(w.sub(w.T));
  }
}

function parametrized(record, dtype) {
  const x = eg.randn([10, 4], { dtype });
  const layer = new nn.Linear(4, 4);
  parametrize.registerParametrization(layer, "weight", new Symmetric());
  const turn = new nn.Linear(4, 4, { bias: false });
  parametrize.registerParametrization(turn, "weight", new Exponential());
  const model = new nn.Sequential(layer, new nn.Tanh(), turn).to(dtype);
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.5 });
  for (let step = 0; step < 20; step++) {
    const loss = F.mseLoss(model.call(x), x.roll(1, 1));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  parametrize.removeParametrizations(layer, "weight");
  record(model.call(x).sum());
  return model.parameters();
}

/** Every initialization that draws no normal numbers, and those that do. */
function initialized(record, dtype) {
  const gain = nn.init.calculateGain("leaky_relu", 0.1);
  const params = Object.entries({
    uniform_: { a: -0.2, b: 0.7 },
    constant_: { val: 0.3 },
    eye_: {},
    xavierUniform_: { gain },
    kaimingUniform_: { mode: "fan_out", nonlinearity: "relu" },
    normal_: { mean: 0.1, std: 0.5 },
    xavierNormal_: { gain: 2 },
    kaimingNormal_: { a: 0.2 },
    truncNormal_: { std: 0.5, a: -0.6, b: 0.9 },
    orthogonal_: { gain: 1.5 },
    sparse_: { sparsity: 0.4 },
  }).map(([name, options]) => {
    const p = new nn.Parameter(eg.empty([6, 9], { dtype }));
    if (name === "constant_") nn.init.constant_(p, options.val);
    else nn.init[name](p, options);
    record(p.sum());
    record(p.square().sum());
    return p;
  });
  const p = new nn.Parameter(eg.empty([4, 2, 3, 3], { dtype }));
  nn.init.dirac_(p, { groups: 2 });
  record(p.sum());
  return [...params, p];
}

const kActivations = {
  ReLU: () => new nn.ReLU(),
  ReLU6: () => new nn.ReLU6(),
  LeakyReLU: () => new nn.LeakyReLU(0.2),
  ELU: () => new nn.ELU({ alpha: 1.3 }),
  CELU: () => new nn.CELU(0.75),
  SELU: () => new nn.SELU(),
  GELU: () => new nn.GELU(),
  "GELU by tanh": () => new nn.GELU({ approximate: "tanh" }),
  SiLU: () => new nn.SiLU(),
  Mish: () => new nn.Mish(),
  Softplus: () => new nn.Softplus(2, 1),
  Softsign: () => new nn.Softsign(),
  Softshrink: () => new nn.Softshrink(0.1),
  Hardshrink: () => new nn.Hardshrink(0.1),
  Tanhshrink: () => new nn.Tanhshrink(),
  Hardtanh: () => new nn.Hardtanh(-0.5, 0.8),
  Hardswish: () => new nn.Hardswish(),
  Hardsigmoid: () => new nn.Hardsigmoid(),
  LogSigmoid: () => new nn.LogSigmoid(),
  Threshold: () => new nn.Threshold(0.1, -0.2),
  PReLU: () => new nn.PReLU({ init: 0.1 }),
  RReLU: () => new nn.RReLU(0.1, 0.4),
  GLU: () => new nn.GLU(),
  Sigmoid: () => new nn.Sigmoid(),
  Tanh: () => new nn.Tanh(),
  Softmin: () => new nn.Softmin({ dim: 1 }),
  LogSoftmax: () => new nn.LogSoftmax({ dim: 1 }),
  Softmax: () => new nn.Softmax({ dim: -1 }),
  "SELU with AlphaDropout": () => new nn.Sequential(new nn.SELU(), new nn.AlphaDropout(0.2)),
  Dropout: () => new nn.Sequential(new nn.Tanh(), new nn.Dropout(0.4)),
  FeatureAlphaDropout: () => new nn.Sequential(new nn.SELU(), new nn.FeatureAlphaDropout(0.1)),
};

const activations = Object.entries(kActivations).map(([name, make]) => {
  return [name, activated(make, name === "GLU" ? 2 : 1)];
});

const kBatchMean = { reduction: "batchmean" };
const cosineDistance = (u, v) => eg.sub(1, F.cosineSimilarity(u, v));

const losses = {
  CrossEntropyLoss: judged((t) => {
    return new nn.CrossEntropyLoss({ weight: weightOf(t), labelSmoothing: 0.1 });
  }, classes),
  "CrossEntropyLoss of probabilities": judged(() => {
    return new nn.CrossEntropyLoss({ reduction: "sum" });
  }, soft),
  NLLLoss: judged(
    (t) => new nn.NLLLoss({ weight: weightOf(t), ignoreIndex: 1 }),
    classes,
    4,
    byLogs,
  ),
  BCELoss: judged((t) => new nn.BCELoss({ weight: weightOf(t) }), bits, 4, eg.sigmoid),
  BCEWithLogitsLoss: judged((dtype) => {
    return new nn.BCEWithLogitsLoss({ posWeight: eg.tensor([1, 3, 2, 0.5], { dtype }) });
  }, bits),
  KLDivLoss: judged(() => new nn.KLDivLoss(kBatchMean), soft, 4, byLogs),
  "KLDivLoss of logs": judged(
    () => new nn.KLDivLoss({ ...kBatchMean, logTarget: true }),
    (x) => soft(x).log(),
    4,
    byLogs,
  ),
  PoissonNLLLoss: judged(
    () => new nn.PoissonNLLLoss({ full: true }),
    (x) => firstFour(x).abs().mul(3).round(),
  ),
  GaussianNLLLoss: judged(
    () => (mean, raw, y) => new nn.GaussianNLLLoss({ full: true }).call(mean, y, F.softplus(raw)),
    sines,
    8,
    thirds,
  ),
  SmoothL1Loss: judged(() => new nn.SmoothL1Loss({ beta: 0.4, reduction: "sum" }), sines),
  HuberLoss: judged(() => new nn.HuberLoss({ delta: 0.4 }), sines),
  L1Loss: judged(() => new nn.L1Loss(), sines),
  SoftMarginLoss: judged(
    () => new nn.SoftMarginLoss(),
    (x) => bits(x).mul(2).sub(1),
  ),
  MultiLabelMarginLoss: judged(() => new nn.MultiLabelMarginLoss(), labels),
  MultiLabelSoftMarginLoss: judged((t) => {
    return new nn.MultiLabelSoftMarginLoss({ weight: weightOf(t) });
  }, bits),
  MultiMarginLoss: judged(() => new nn.MultiMarginLoss({ p: 2, margin: 0.7 }), classes),
  HingeEmbeddingLoss: judged(
    () => new nn.HingeEmbeddingLoss({ margin: 0.8 }),
    (x) => bits(x).mul(2).sub(1),
  ),
  MarginRankingLoss: judged(
    () => new nn.MarginRankingLoss({ margin: 0.3 }),
    (x) => signs(x).unsqueeze(1),
    8,
    thirds,
  ),
  CosineEmbeddingLoss: judged(() => new nn.CosineEmbeddingLoss({ margin: 0.2 }), signs, 8, thirds),
  TripletMarginLoss: judged(
    () => (a, p, n) => new nn.TripletMarginLoss({ p: 2, swap: true }).call(a, p, n),
    signs,
    12,
    thirds,
  ),
  TripletMarginWithDistanceLoss: judged(
    () => {
      const settings = { distanceFunction: cosineDistance, margin: 0.5 };
      const criterion = new nn.TripletMarginWithDistanceLoss(settings);
      return (a, p, n) => criterion.call(a, p, n);
    },
    signs,
    12,
    thirds,
  ),
  "CosineSimilarity and PairwiseDistance": judged(
    () => (a, b, y) => {
      const alike = new nn.CosineSimilarity().call(a, b).mul(y).mean();
      return alike.add(new nn.PairwiseDistance({ p: 1.5 }).call(a, b).mean());
    },
    signs,
    8,
    thirds,
  ),
};

export const programs = {
  ...Object.fromEntries(activations),
  ...losses,
  weightNorm,
  "parametrizations.weightNorm": parametrizedWeightNorm,
  spectralNorm: gan((layer) => nn.utils.spectralNorm(layer)),
  "parametrizations.spectralNorm": gan((layer) => {
    return parametrizations.spectralNorm(layer, { nPowerIterations: 2 });
  }),
  "parametrizations of one's own": parametrized,
  initializations: initialized,
};
