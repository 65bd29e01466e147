// A small classifier, trained with every scheduler.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const { lrScheduler, swaUtils } = optim;
const F = nn.functional;

function problem(dtype) {
  const x = eg.randn([60, 4], { dtype });
  const y = x.sin().sum(1).gt(0).long().add(x.at(eg.slice(), 0).gt(0.5).long());
  const model = new nn.Sequential(new nn.Linear(4, 24), new nn.ReLU(), new nn.Linear(24, 3));
  return { x, y, model: model.to(dtype) };
}

const sgd = (model) => new optim.SGD(model.parameters(), { lr: 0.2, momentum: 0.9 });

const adam = (model) =>
  new optim.Adam(
    [{ params: model.at(0).parameters() }, { params: model.at(2).parameters(), lr: 0.01 }],
    { lr: 0.05 },
  );

function scheduled(make, { makeOptimizer = sgd, takesLoss = false } = {}) {
  return (record, dtype) => {
    const { x, y, model } = problem(dtype);
    const criterion = new nn.CrossEntropyLoss({ labelSmoothing: 0.05 });
    const optimizer = makeOptimizer(model);
    const scheduler = make(optimizer);
    for (let step = 0; step < 30; step++) {
      optimizer.zeroGrad();
      const loss = criterion.call(model.call(x), y);
      loss.backward();
      optimizer.step();
      if (takesLoss) scheduler.step(loss.item());
      else scheduler.step();
      record(loss);
      record(optimizer.paramGroups.at(-1).lr);
    }
    return model.parameters();
  };
}

function sequential(o) {
  const first = new lrScheduler.LinearLR(o, { startFactor: 0.1, totalIters: 5 });
  const second = new lrScheduler.CosineAnnealingLR(o, 10, { etaMin: 0.01 });
  const third = new lrScheduler.ExponentialLR(o, 0.8);
  return new lrScheduler.SequentialLR(o, [first, second, third], { milestones: [5, 15] });
}

function chained(o) {
  const first = new lrScheduler.ConstantLR(o, { factor: 0.25, totalIters: 6 });
  const second = new lrScheduler.StepLR(o, 8, { gamma: 0.5 });
  const third = new lrScheduler.CosineAnnealingWarmRestarts(o, 7);
  return new lrScheduler.ChainedScheduler([first, second, third]);
}

function warmRestartsByBatch(record, dtype) {
  const { x, y, model } = problem(dtype);
  const optimizer = sgd(model);
  const settings = { t0: 3, tMult: 2, etaMin: 1e-3 };
  const scheduler = new lrScheduler.CosineAnnealingWarmRestarts(optimizer, settings);
  for (let epoch = 0; epoch < 8; epoch++) {
    for (let i = 0; i < 3; i++) {
      const every = eg.slice(i, null, 3);
      const loss = F.nllLoss(model.call(x.at(every)).logSoftmax(1), y.at(every));
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      scheduler.step(epoch + i / 3);
      record(loss);
      record(scheduler.getLastLr()[0]);
    }
  }
  return model.parameters();
}

function plateauOfValidation(record, dtype) {
  const { x, y, model } = problem(dtype);
  const optimizer = adam(model);
  const scheduler = new lrScheduler.ReduceLROnPlateau(optimizer, {
    mode: "max",
    factor: 0.3,
    patience: 1,
    threshold: 0.02,
    thresholdMode: "abs",
    cooldown: 2,
    minLr: [1e-4, 1e-3],
  });
  const [trainX, testX] = x.split([40, 20]);
  const [trainY, testY] = y.split([40, 20]);
  const weight = eg.tensor([1, 2, 0.5], { dtype });
  for (let step = 0; step < 30; step++) {
    model.train();
    const loss = F.crossEntropy(model.call(trainX), trainY, { weight });
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    model.eval();
    const right = eg.noGrad(() => model.call(testX).argmax(1).eq(testY).float().mean());
    scheduler.step(right);
    record(loss);
    record(optimizer.paramGroups[0].lr);
  }
  return model.parameters();
}

async function swa(record, dtype) {
  const { x, y } = problem(dtype);
  const model = new nn.Sequential(
    new nn.Linear(4, 12),
    new nn.BatchNorm1d(12),
    new nn.ReLU(),
    new nn.Linear(12, 3),
  ).to(dtype);
  const averaged = new swaUtils.AveragedModel(model);
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.1, momentum: 0.8 });
  const scheduler = new lrScheduler.CosineAnnealingLR(optimizer, 20);
  const swaScheduler = new swaUtils.SWALR(optimizer, { swaLr: 0.05, annealEpochs: 4 });
  for (let epoch = 0; epoch < 24; epoch++) {
    const loss = F.crossEntropy(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    if (epoch > 10) {
      averaged.updateParameters(model);
      swaScheduler.step();
    } else {
      scheduler.step();
    }
    record(loss);
  }
  const loader = new eg.data.DataLoader(new eg.data.TensorDataset(x), { batchSize: 16 });
  await swaUtils.updateBn(loader, averaged);
  averaged.eval();
  record(F.crossEntropy(averaged.call(x), y));
  return [...averaged.parameters(), ...averaged.module.at(1).buffers()];
}

function ema(record, dtype) {
  const { x, y, model } = problem(dtype);
  const multiAvgFn = swaUtils.getEmaMultiAvgFn(0.9);
  const averaged = new swaUtils.AveragedModel(model, { multiAvgFn });
  const optimizer = sgd(model);
  for (let step = 0; step < 25; step++) {
    const loss = F.multiMarginLoss(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    averaged.updateParameters(model);
    record(loss);
    record(eg.noGrad(() => F.multiMarginLoss(averaged.call(x), y)));
  }
  return averaged.parameters();
}

/** Calls scheduled() with a scheduler and its arguments. */
const by = (name, ...args) => scheduled((o) => new lrScheduler[name](o, ...args));
const ofAdamBy = (name, ...args) => {
  return scheduled((o) => new lrScheduler[name](o, ...args), { makeOptimizer: adam });
};

const kOfCycle = { stepSizeUp: 5, mode: "triangular2", baseMomentum: 0.7, maxMomentum: 0.95 };
const kOfExpRange = { stepSizeUp: 5, mode: "exp_range", gamma: 0.95, cycleMomentum: false };
const kOfFunction = { stepSizeUp: 5, scaleFn: (x) => 1 / 5 ** (x * 0.1), scaleMode: "cycle" };
const kOfPhases = {
  maxLr: [0.1, 0.05],
  epochs: 6,
  stepsPerEpoch: 6,
  pctStart: 0.4,
  annealStrategy: "linear",
  threePhase: true,
};
const kPatience = { factor: 0.5, patience: 0, threshold: 0.1 };

export const programs = {
  StepLR: by("StepLR", { stepSize: 7, gamma: 0.5 }),
  MultiStepLR: ofAdamBy("MultiStepLR", { milestones: [5, 12, 20], gamma: 0.3 }),
  ExponentialLR: ofAdamBy("ExponentialLR", { gamma: 0.9 }),
  ConstantLR: by("ConstantLR", { factor: 0.5, totalIters: 8 }),
  LinearLR: by("LinearLR", { startFactor: 0.2, endFactor: 0.7, totalIters: 12 }),
  PolynomialLR: ofAdamBy("PolynomialLR", { totalIters: 20, power: 1.5 }),
  CosineAnnealingLR: by("CosineAnnealingLR", 12, 0.005),
  CosineAnnealingWarmRestarts: ofAdamBy("CosineAnnealingWarmRestarts", 4, {
    tMult: 2,
    etaMin: 0.001,
  }),
  "CosineAnnealingWarmRestarts by batch": warmRestartsByBatch,
  "CyclicLR, triangular": by("CyclicLR", {
    baseLr: 0.01,
    maxLr: 0.3,
    stepSizeUp: 4,
    stepSizeDown: 6,
  }),
  "CyclicLR, triangular2": by("CyclicLR", 0.01, 0.3, kOfCycle),
  "CyclicLR, exp_range": by("CyclicLR", 0.01, 0.3, kOfExpRange),
  "CyclicLR by a function": by("CyclicLR", 0.01, 0.3, kOfFunction),
  OneCycleLR: by("OneCycleLR", { maxLr: 0.4, totalSteps: 31 }),
  "OneCycleLR, three phases of Adam": ofAdamBy("OneCycleLR", kOfPhases),
  ReduceLROnPlateau: scheduled((o) => new lrScheduler.ReduceLROnPlateau(o, "min", kPatience), {
    takesLoss: true,
  }),
  "ReduceLROnPlateau of validation": plateauOfValidation,
  LambdaLR: ofAdamBy("LambdaLR", { lrLambda: [(e) => 0.95 ** e, (e) => 1 / (e + 1)] }),
  MultiplicativeLR: by("MultiplicativeLR", (e) => (e % 3 ? 0.9 : 1.1)),
  SequentialLR: scheduled(sequential),
  ChainedScheduler: scheduled(chained),
  SWA: swa,
  EMA: ema,
};
