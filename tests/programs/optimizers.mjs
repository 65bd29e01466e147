// Every optimizer on a small regression.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;

function problem(dtype) {
  const x = eg.randn([48, 6], { dtype });
  const y = x.sum(1, true).sin();
  const model = new nn.Sequential(new nn.Linear(6, 16), new nn.Tanh(), new nn.Linear(16, 1));
  return { x, y, model: model.to(dtype) };
}

function trained(make, sign = 1) {
  return (record, dtype) => {
    const { x, y, model } = problem(dtype);
    const optimizer = make(model.parameters());
    for (let step = 0; step < 40; step++) {
      const loss = F.mseLoss(model.call(x), y);
      optimizer.zeroGrad();
      loss.mul(sign).backward();
      optimizer.step();
      record(loss);
    }
    return model.parameters();
  };
}

function lbfgs(options) {
  return (record, dtype) => {
    const { x, y, model } = problem(dtype);
    const optimizer = new optim.LBFGS(model.parameters(), options);
    const closure = () => {
      optimizer.zeroGrad();
      const loss = F.mseLoss(model.call(x), y);
      loss.backward();
      return loss;
    };
    for (let step = 0; step < 4; step++) record(optimizer.step(closure));
    return model.parameters();
  };
}

function groups(record, dtype) {
  const { x, y, model } = problem(dtype);
  const optimizer = new optim.SGD(
    [
      { params: model.at(0).parameters(), lr: 0.05, nesterov: true },
      { params: [model.at(2).weight], weightDecay: 0.1 },
    ],
    { lr: 0.1, momentum: 0.8 },
  );
  for (let step = 0; step < 40; step++) {
    if (step === 15)
      optimizer.addParamGroup({ params: [model.at(2).bias], lr: 0.2, dampening: 0.1 });
    if (step === 25) for (const group of optimizer.paramGroups) group.lr *= 0.5;
    optimizer.zeroGrad();
    const loss = F.huberLoss(model.call(x), y, { delta: 0.7 });
    loss.backward();
    nn.utils.clipGradNorm_(model.parameters(), 0.3);
    optimizer.step();
    record(loss);
  }
  return model.parameters();
}

function frozenThenThawed(record, dtype) {
  const { x, y, model } = problem(dtype);
  model.at(0).requiresGrad_(false);
  const trainable = model.parameters().filter((p) => p.requiresGrad);
  const optimizer = new optim.AdamW(trainable, { lr: 0.02, weightDecay: 0.05 });
  for (let step = 0; step < 40; step++) {
    if (step === 20) {
      model.at(0).requiresGrad_(true);
      optimizer.addParamGroup({ params: model.at(0).parameters() });
    }
    const loss = F.smoothL1Loss(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    nn.utils.clipGradValue_(model.parameters(), 0.02);
    optimizer.step();
    record(loss);
  }
  return model.parameters();
}

function accumulated(record, dtype) {
  const { x, y, model } = problem(dtype);
  const settings = { lr: 0.02, amsgrad: true, weightDecay: 0.01 };
  const optimizer = new optim.Adam(model.parameters(), settings);
  for (let step = 0; step < 30; step++) {
    optimizer.zeroGrad();
    const targets = y.chunk(3);
    for (const [i, part] of x.chunk(3).entries()) {
      const loss = F.mseLoss(model.call(part), targets[i]).div(3);
      loss.backward();
      record(loss);
    }
    optimizer.step();
  }
  return model.parameters();
}

const kOfNAdam = [0.02, [0.8, 0.99], 1e-7, 0.05, 0.01];
const kOfAdamax = { lr: 0.02, betas: [0.85, 0.95], weightDecay: 0.02, maximize: true };
const kOfAsgd = { lr: 0.1, lambd: 1e-2, alpha: 0.6, t0: 10, weightDecay: 0.01 };
const kOfRprop = { lr: 0.005, etas: [0.4, 1.3], stepSizes: [1e-5, 0.1] };
const kOfAdamW = { lr: 0.02, amsgrad: true, weightDecay: 0.1, maximize: true };
const kOfRmsprop = { lr: 0.005, alpha: 0.9, momentum: 0.5, centered: true, weightDecay: 0.01 };
const kOfAdagrad = { lr: 0.1, lrDecay: 0.01, weightDecay: 0.01, initialAccumulatorValue: 0.1 };
const kShortSearch = {
  lr: 1,
  maxIter: 5,
  maxEval: 4,
  lineSearchFn: "strong_wolfe",
  historySize: 2,
};

/** Calls trained() with an optimizer and its settings. */
const by = (name, settings = {}, sign = 1) => {
  return trained(
    (params) => new optim[name](params, ...(Array.isArray(settings) ? settings : [settings])),
    sign,
  );
};

export const programs = {
  NAdam: by("NAdam", { lr: 0.01 }),
  "NAdam with weight decay": by("NAdam", kOfNAdam),
  "NAdam with decoupled weight decay": by("NAdam", {
    lr: 0.02,
    weightDecay: 0.1,
    decoupledWeightDecay: true,
  }),
  RAdam: by("RAdam", { lr: 0.03 }),
  "RAdam with weight decay": by("RAdam", { lr: 0.02, betas: [0.8, 0.9], weightDecay: 0.05 }),
  "RAdam with decoupled weight decay": by("RAdam", {
    lr: 0.02,
    betas: [0.8, 0.9],
    weightDecay: 0.1,
    decoupledWeightDecay: true,
  }),
  Adadelta: by("Adadelta"),
  "Adadelta with its options": by("Adadelta", { lr: 0.5, rho: 0.8, eps: 1e-4, weightDecay: 0.02 }),
  "Adadelta maximizing": by("Adadelta", { eps: 1e-4, maximize: true }, -1),
  Adamax: by("Adamax", { lr: 0.02 }),
  "Adamax with weight decay, maximizing": by("Adamax", kOfAdamax, -1),
  ASGD: by("ASGD", { lr: 0.1 }),
  "ASGD with its options": by("ASGD", kOfAsgd),
  Rprop: by("Rprop"),
  "Rprop with its options": by("Rprop", kOfRprop),
  LBFGS: lbfgs({ lr: 0.5, maxIter: 6, historySize: 4 }),
  "LBFGS with strong Wolfe": lbfgs({ lineSearchFn: "strong_wolfe", maxIter: 5 }),
  "LBFGS with few evaluations": lbfgs(kShortSearch),
  "Adam, amsgrad": by("Adam", { lr: 0.02, amsgrad: true, betas: [0.7, 0.9] }),
  "Adam maximizing": by("Adam", { lr: 0.02, maximize: true, weightDecay: 0.01 }, -1),
  "AdamW, amsgrad, maximizing": by("AdamW", kOfAdamW, -1),
  "RMSprop, centered with momentum": by("RMSprop", kOfRmsprop),
  RMSprop: by("RMSprop"),
  "Adagrad with its options": by("Adagrad", kOfAdagrad),
  "SGD, Nesterov": by("SGD", { lr: 0.05, momentum: 0.9, nesterov: true, weightDecay: 1e-3 }),
  "SGD, dampened, maximizing": by(
    "SGD",
    { lr: 0.1, momentum: 0.9, dampening: 0.3, maximize: true },
    -1,
  ),
  "parameter groups": groups,
  "frozen, then thawed": frozenThenThawed,
  "accumulated gradients": accumulated,
};
