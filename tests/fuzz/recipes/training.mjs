// Optimizers and schedulers.

export const kOptimizers = [
  "SGD($0, { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.1 })",
  "Adam([{ params: $0, lr: 0.1 }], { betas: [0.9, 0.99], amsgrad: true })",
  "AdamW($0, { weightDecay: 0.01 })",
  "RMSprop($0, { alpha: 0.9, centered: true, momentum: 0.1 })",
  "Adagrad($0, { lrDecay: 0.1 })",
  "NAdam($0, { momentumDecay: 0.01, decoupledWeightDecay: true, weightDecay: 0.1 })",
  "RAdam($0, { betas: [0.9, 0.99] })",
  "Adadelta($0, { rho: 0.8 })",
  "Adamax($0, { eps: 1e-3 })",
  "ASGD($0, { lambd: 0.1, alpha: 0.5, t0: 2 })",
  "Rprop($0, { etas: [0.5, 1.2], stepSizes: [1e-6, 50] })",
  "Adafactor($0, { lr: 0.1, beta2Decay: -0.7, d: 1.5 })",
].map((optimizer) => [
  "[eg.randn([2, 3], { requiresGrad: true }), eg.randn([3], { requiresGrad: true })]",
  `new eg.optim.${optimizer}`,
  "$0[0].mul($0[1]).sum().backward()",
  "$1.step()",
  "$1.stateDict()",
  "$1.loadStateDict($4)",
  "$1.addParamGroup({ params: [eg.randn([2], { requiresGrad: true })], lr: 1 })",
  "$1.zeroGrad()",
  "$1.step(() => 1)",
]);

export const kOptimizerHooks = [
  [
    "eg.randn([2, 3], { requiresGrad: true })",
    "new eg.optim.SGD([$0], { lr: 0.1 })",
    "$1.registerStepPreHook((optimizer, args) => args)",
    "$1.registerStepPostHook((optimizer, args) => undefined)",
    "eg.optim.registerOptimizerStepPreHook((optimizer, args) => args).remove()",
    "eg.optim.registerOptimizerStepPostHook((optimizer, args) => undefined).remove()",
    "$1.registerStateDictPreHook((optimizer) => undefined, { prepend: true })",
    "$1.registerStateDictPostHook((optimizer, state) => state, { prepend: false })",
    "$1.registerLoadStateDictPreHook((optimizer, state) => state, { prepend: false })",
    "$1.registerLoadStateDictPostHook((optimizer) => undefined, { prepend: false })",
    "$0.sum().backward()",
    "$1.step()",
    "$1.loadStateDict($1.stateDict())",
  ],
];

export const kLbfgs = [
  [
    "eg.randn([2, 3], { requiresGrad: true })",
    'new eg.optim.LBFGS([$0], { lr: 1, maxIter: 3, maxEval: 4, historySize: 2, lineSearchFn: "strong_wolfe" })',
    "$1.step(() => { $0.grad = null; const loss = $0.square().sum(); loss.backward(); return loss; })",
    "$1.stateDict()",
    "$1.loadStateDict($3)",
  ],
];

export const kSchedulers = [
  "StepLR($0, 2, { gamma: 0.1 })",
  "LinearLR($0, { startFactor: 0.3, endFactor: 1, totalIters: 5 })",
  "CosineAnnealingLR($0, 10, { etaMin: 0 })",
  'OneCycleLR($0, 0.1, { totalSteps: 10, pctStart: 0.3, annealStrategy: "cos" })',
  "LambdaLR($0, (epoch) => 0.9 ** epoch)",
  "MultiplicativeLR($0, (epoch) => 0.9)",
  "MultiStepLR($0, [1, 3], { gamma: 0.1 })",
  "ExponentialLR($0, 0.9)",
  "ConstantLR($0, { factor: 0.5, totalIters: 2 })",
  "PolynomialLR($0, 5, { power: 2 })",
  "CosineAnnealingWarmRestarts($0, 3, { tMult: 2, etaMin: 0 })",
  'CyclicLR($0, 0.1, 0.3, { stepSizeUp: 3, mode: "exp_range", gamma: 0.9, cycleMomentum: false })',
  "SequentialLR($0, [new eg.optim.lrScheduler.ExponentialLR($0, 0.9)], [])",
  "ChainedScheduler([new eg.optim.lrScheduler.ExponentialLR($0, 0.9)])",
].map((scheduler) => [
  "new eg.optim.SGD([eg.randn([2], { requiresGrad: true })], { lr: 0.1 })",
  `new eg.optim.lrScheduler.${scheduler}`,
  "$1.step()",
  "$1.getLastLr()",
  "$1.stateDict()",
  "$1.loadStateDict($4)",
]);

/** Recipes that do not fit the lists above. */
export const kAveraging = [
  [
    "new eg.optim.SGD([eg.randn([2], { requiresGrad: true })], { lr: 0.1 })",
    'new eg.optim.lrScheduler.ReduceLROnPlateau($0, { mode: "min", factor: 0.5, patience: 1, thresholdMode: "rel", cooldown: 1, minLr: 0.01 })',
    "$1.step(2)",
    "$1.step(eg.tensor(3))",
    "$1.stateDict()",
    "$1.loadStateDict($4)",
    'new eg.optim.swaUtils.SWALR($0, 0.05, { annealEpochs: 3, annealStrategy: "linear" })',
    "$6.step()",
    "new eg.optim.lrScheduler.BaseScheduler($0)",
    "new eg.optim.lrScheduler.LRScheduler($0)",
  ],
  [
    "new eg.nn.Sequential(new eg.nn.Linear(2, 2), new eg.nn.BatchNorm1d(2))",
    "new eg.optim.swaUtils.AveragedModel($0, { multiAvgFn: eg.optim.swaUtils.getEmaMultiAvgFn(0.9), useBuffers: true })",
    "$1.updateParameters($0)",
    "$1.call(eg.randn([3, 2]))",
    "await eg.optim.swaUtils.updateBn([eg.randn([3, 2])], $1)",
    "new eg.optim.swaUtils.AveragedModel($0, { avgFn: eg.optim.swaUtils.getSwaAvgFn() })",
    "$5.updateParameters($0)",
    "eg.optim.swaUtils.getEmaAvgFn(0.9)(eg.ones([2]), eg.zeros([2]), 1)",
    "eg.optim.swaUtils.getSwaMultiAvgFn()([eg.ones([2])], [eg.zeros([2])], 1)",
    "$1.stateDict()",
    "$1.loadStateDict($9)",
  ],
];
