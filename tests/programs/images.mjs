// Layers for images and signals: convolutions, pooling, norms, dropout of channels, sampling.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;

const stateOf = (model) => {
  const buffers = model.buffers().filter((buffer) => buffer.dtype.startsWith("float"));
  return [...model.parameters(), ...buffers];
};

/** A classifier of random images of this shape. */
function classified(shape, make, steps = 20) {
  return (record, dtype) => {
    const x = eg.randn([12, ...shape], { dtype });
    const y = eg.randint(0, 3, [12]);
    const model = make().to(dtype);
    const optimizer = new optim.Adam(model.parameters(), { lr: 0.01 });
    for (let step = 0; step < steps; step++) {
      optimizer.zeroGrad();
      const loss = F.crossEntropy(model.call(x), y);
      loss.backward();
      optimizer.step();
      record(loss);
    }
    model.eval();
    record(eg.noGrad(() => F.crossEntropy(model.call(x), y)));
    return stateOf(model);
  };
}

/** A network that reproduces its input, or learns `target` of it. */
function copied(shape, make, target = (x) => x) {
  return (record, dtype) => {
    const x = eg.randn([6, ...shape], { dtype });
    const wanted = target(x);
    const model = make().to(dtype);
    const optimizer = new optim.RMSprop(model.parameters(), { lr: 0.005 });
    for (let step = 0; step < 20; step++) {
      optimizer.zeroGrad();
      const loss = F.l1Loss(model.call(x), wanted);
      loss.backward();
      optimizer.step();
      record(loss);
    }
    return stateOf(model);
  };
}

class Residual extends nn.Module {
  constructor(inside, outside, stride = 1) {
    super();
    this.conv1 = new nn.Conv2d(inside, outside, 3, stride, 1, { bias: false });
    this.bn1 = new nn.BatchNorm2d(outside);
    this.conv2 = new nn.Conv2d(outside, outside, 3, 1, 1, { bias: false });
    this.bn2 = new nn.BatchNorm2d(outside);
    this.shortcut = new nn.Sequential();
    if (stride !== 1 || inside !== outside) {
      this.shortcut = new nn.Sequential(
        new nn.Conv2d(inside, outside, 1, stride, { bias: false }),
        new nn.BatchNorm2d(outside),
      );
    }
  }

  forward(x) {
    let out = F.relu_(this.bn1.call(this.conv1.call(x)));
    out = this.bn2.call(this.conv2.call(out));
    out.add_(this.shortcut.call(x));
    return F.relu(out);
  }
}

class UNet extends nn.Module {
  down1 = new nn.Sequential(
    new nn.Conv2d(2, 8, 3, { padding: "same", bias: false }),
    new nn.InstanceNorm2d(8, { affine: true }),
    new nn.LeakyReLU(0.1),
  );
  down2 = new nn.Sequential(
    new nn.Conv2d(8, 16, 3, { padding: 1, paddingMode: "reflect" }),
    new nn.GroupNorm(4, 16),
    new nn.SiLU(),
  );
  up = new nn.ConvTranspose2d(16, 8, 2, { stride: 2 });
  out = new nn.Conv2d(16, 2, 1);

  forward(x) {
    const a = this.down1.call(x);
    const b = this.down2.call(F.maxPool2d(a, 2));
    return this.out.call(eg.cat([a, this.up.call(b)], 1));
  }
}

class Unpooled extends nn.Module {
  pool = new nn.MaxPool2d(2, { returnIndices: true });
  unpool = new nn.MaxUnpool2d(2);
  before = new nn.Conv2d(2, 4, 3, { padding: 1 });
  after = new nn.Conv2d(4, 2, 3, { padding: 1 });

  forward(x) {
    const [pooled, places] = this.pool.call(this.before.call(x));
    return this.after.call(this.unpool.call(pooled, places));
  }
}

class SpatialTransformer extends nn.Module {
  constructor(options = {}) {
    super();
    this.options = options;
    this.locate = new nn.Sequential(
      new nn.Conv2d(1, 4, 5),
      new nn.ReLU(true),
      new nn.AdaptiveAvgPool2d(2),
      new nn.Flatten(),
      new nn.Linear(16, 6),
    );
    nn.init.normal_(this.locate.at(-1).weight, { std: 0.02 });
    eg.noGrad(() => this.locate.at(-1).bias.copy_(eg.tensor([1, 0, 0, 0, 1, 0])));
    this.judge = new nn.Linear(64, 3);
  }

  forward(x) {
    const theta = this.locate.call(x).view([-1, 2, 3]);
    const grid = F.affineGrid(theta, x.size(), { alignCorners: false });
    const seen = F.gridSample(x, grid, { alignCorners: false, ...this.options });
    return this.judge.call(seen.flatten(1));
  }
}

class Patches extends nn.Module {
  unfold = new nn.Unfold(3, { padding: 1, stride: 2 });
  mix = new nn.Conv1d(18, 18, 1);
  fold = new nn.Fold([8, 8], 3, { padding: 1, stride: 2 });
  last = new nn.Conv2d(2, 2, 3, { padding: 1, paddingMode: "circular", groups: 2 });

  forward(x) {
    return this.last.call(this.fold.call(this.mix.call(this.unfold.call(x)).tanh()));
  }
}

const resnet = () =>
  new nn.Sequential(
    new nn.Conv2d(3, 8, 3, { padding: 1, bias: false }),
    new nn.BatchNorm2d(8),
    new nn.ReLU({ inplace: true }),
    new Residual(8, 8),
    new Residual(8, 16, 2),
    new nn.AdaptiveAvgPool2d([1, 1]),
    new nn.Flatten(),
    new nn.Linear(16, 3),
  );

const alexnet = () =>
  new nn.Sequential(
    new nn.Conv2d(3, 8, 5, { stride: 2, padding: 2 }),
    new nn.ReLU(),
    new nn.LocalResponseNorm(5, { alpha: 0.1, k: 2 }),
    new nn.MaxPool2d(3, { stride: 2 }),
    new nn.Conv2d(8, 12, 3, { padding: 1, groups: 4 }),
    new nn.ReLU(),
    new nn.Flatten(),
    new nn.Dropout(0.5),
    new nn.Linear(108, 10),
    new nn.ReLU(),
    new nn.Dropout(0.3),
    new nn.Linear(10, 3),
  );

const mobile = () =>
  new nn.Sequential(
    new nn.Conv2d(3, 6, 3, { stride: 2, padding: 1 }),
    new nn.Hardswish(),
    new nn.Conv2d(6, 6, 3, { padding: 2, dilation: 2, groups: 6, bias: false }),
    new nn.BatchNorm2d(6, { momentum: null, eps: 1e-3 }),
    new nn.ReLU6(),
    new nn.Dropout2d(0.3),
    new nn.AvgPool2d(3, { stride: 2, padding: 1, countIncludePad: false }),
    new nn.Hardsigmoid(),
    new nn.LPPool2d(2, 2),
    new nn.Flatten(),
    new nn.Linear(24, 3),
  );

const wave = () =>
  new nn.Sequential(
    new nn.ConstantPad1d(2, 0.5),
    new nn.Conv1d(2, 8, 5, { stride: 2, bias: false }),
    new nn.BatchNorm1d(8),
    new nn.ELU(0.7),
    new nn.MaxPool1d(2, { ceilMode: true }),
    new nn.Dropout1d(0.25),
    new nn.Conv1d(8, 8, 3, { dilation: 2, padding: 2, bias: false }),
    new nn.InstanceNorm1d(8, { trackRunningStats: true }),
    new nn.AvgPool1d(2),
    new nn.LPPool1d(2, 2),
    new nn.AdaptiveMaxPool1d(1),
    new nn.Flatten(),
    new nn.Linear(8, 3),
  );

const volume = () =>
  new nn.Sequential(
    new nn.Conv3d(2, 6, 3, { padding: 1, bias: false }),
    new nn.BatchNorm3d(6),
    new nn.CELU(),
    new nn.MaxPool3d(2),
    new nn.Dropout3d(0.2),
    new nn.Conv3d(6, 6, [1, 2, 2], { groups: 2, bias: false }),
    new nn.Softplus({ beta: 2 }),
    new nn.InstanceNorm3d(6, { affine: true }),
    new nn.AvgPool3d([2, 1, 1]),
    new nn.AdaptiveAvgPool3d([1, 2, 2]),
    new nn.AdaptiveMaxPool3d([1, 1, 2]),
    new nn.Flatten(),
    new nn.Linear(12, 3),
  );

const volumeBack = () =>
  new nn.Sequential(
    new nn.Conv3d(1, 4, 2, { stride: 2 }),
    new nn.GroupNorm(2, 4),
    new nn.Mish(),
    new nn.ConvTranspose3d(4, 4, 2, { stride: 2, groups: 2 }),
    new nn.GELU(),
    new nn.Upsample({ scaleFactor: [1, 1, 2], mode: "trilinear" }),
    new nn.Conv3d(4, 1, [1, 1, 2], { stride: [1, 1, 2] }),
  );

const signalBack = () =>
  new nn.Sequential(
    new nn.Conv1d(1, 6, 4, { stride: 2, padding: 1 }),
    new nn.PReLU(6),
    new nn.ConvTranspose1d(6, 4, 3, { stride: 2, padding: 1, outputPadding: 1, dilation: 1 }),
    new nn.Tanh(),
    new nn.ReplicationPad1d(1),
    new nn.Conv1d(4, 1, 3),
    new nn.Upsample({ scaleFactor: 2, mode: "linear", alignCorners: true }),
    new nn.AvgPool1d(2),
  );

const superResolution = () =>
  new nn.Sequential(
    new nn.Conv2d(1, 8, 3, { padding: 1 }),
    new nn.Tanh(),
    new nn.ChannelShuffle(4),
    new nn.Conv2d(8, 8, 3, { padding: 1, groups: 2 }),
    new nn.PReLU(),
    new nn.Conv2d(8, 4, 3, { padding: 1 }),
    new nn.PixelShuffle(2),
  );

const upAndDown = () =>
  new nn.Sequential(
    new nn.PixelUnshuffle(2),
    new nn.Conv2d(4, 6, 3, { padding: 1 }),
    new nn.Softsign(),
    new nn.Upsample({ scaleFactor: 2, mode: "bilinear", alignCorners: false }),
    new nn.ReflectionPad2d([1, 1, 1, 1]),
    new nn.Conv2d(6, 4, 3),
    new nn.Tanhshrink(),
    new nn.Upsample({ size: [8, 8], mode: "bicubic", alignCorners: true }),
    new nn.ZeroPad2d([0, 1, 1, 0]),
    new nn.Conv2d(4, 1, 2),
    new nn.UpsamplingNearest2d({ scaleFactor: 2 }),
    new nn.AvgPool2d(2),
  );

const norms = () =>
  new nn.Sequential(
    new nn.Conv2d(2, 8, 3, { bias: false }),
    new nn.BatchNorm2d(8, { affine: false }),
    new nn.Sigmoid(),
    new nn.Conv2d(8, 8, 3, { bias: false }),
    new nn.BatchNorm2d(8, { trackRunningStats: false }),
    new nn.Hardtanh(-1.5, 1.5),
    new nn.LayerNorm([8, 4, 4]),
    new nn.Flatten(2),
    new nn.InstanceNorm1d(8, { momentum: 0.3, affine: true, trackRunningStats: true }),
    new nn.AdaptiveAvgPool1d(5),
    new nn.Flatten(),
    new nn.Linear(40, 3, { bias: false }),
  );

const areas = () => new nn.Sequential(new nn.Conv2d(2, 2, 3, 2, 1), new nn.Softmax2d());
const smaller = (x) => F.interpolate(x, { scaleFactor: 0.5, mode: "area" });
const larger = (x) => F.interpolate(x, { scaleFactor: 2, mode: "bicubic", alignCorners: false });
const kReflected = { mode: "bilinear", paddingMode: "reflection" };
const kBicubic = { mode: "bicubic", paddingMode: "border" };

export const programs = {
  "residual network": classified([3, 8, 8], resnet, 15),
  AlexNet: classified([3, 16, 16], alexnet),
  "depthwise convolutions": classified([3, 16, 16], mobile),
  signals: classified([2, 30], wave),
  volumes: classified([2, 6, 6, 6], volume),
  norms: classified([2, 8, 8], norms),
  "spatial transformer": classified([1, 8, 8], () => new SpatialTransformer()),
  "spatial transformer, reflected": classified([1, 8, 8], () => new SpatialTransformer(kReflected)),
  "spatial transformer, bicubic": classified([1, 8, 8], () => new SpatialTransformer(kBicubic)),
  "U-Net": copied([2, 8, 8], () => new UNet()),
  "volumes and back": copied([1, 4, 4, 4], volumeBack),
  "signals and back": copied([1, 16], signalBack),
  "super-resolution": copied([1, 6, 6], superResolution, larger),
  "up and down": copied([1, 8, 8], upAndDown),
  unpooled: copied([2, 8, 8], () => new Unpooled()),
  patches: copied([2, 8, 8], () => new Patches()),
  "averages of areas": copied([2, 8, 8], areas, smaller),
};
