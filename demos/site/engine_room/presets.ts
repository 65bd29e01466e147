// Models to begin with. Each is a module that exports `loss`; other exports only give names to the leaves.

export interface Preset {
  readonly title: string;
  /** What to look at. */
  readonly about: string;
  readonly code: string;
  readonly needsGpu?: boolean;
}

const kStart = `import * as eg from "edgegrad";\n\n`;

export const kPresets: readonly Preset[] = [
  {
    title: "Multilayer perceptron",
    about:
      "One chain, with the weights hanging off it. Each Addmm makes three gradients at once; AccumulateGrad has the highest sequence number there is, so the weights get theirs before the chain goes on.",
    code: `${kStart}const { Linear, ReLU, Sequential } = eg.nn;
export const model = new Sequential(
  new Linear(64, 128),
  new ReLU(),
  new Linear(128, 128),
  new ReLU(),
  new Linear(128, 10),
);
const x = eg.randn([32, 64]);
const labels = eg.randint(0, 10, [32]);

const scores = model.call(x);
export const loss = eg.crossEntropy(scores, labels);
`,
  },
  {
    title: "Branches that share a weight",
    about:
      "Two branches use w, so AccumulateGrad of w has two edges coming in: it waits until both gradients are there, added up. Watch the queue: of two nodes that are ready, the one made later in forward runs first.",
    code: `${kStart}const requiresGrad = true;
export const w = eg.randn([64, 64], { requiresGrad });
export const scale = eg.ones([64], { requiresGrad });
const x = eg.randn([32, 64]);

const left = x.matmul(w).tanh();
const right = x.mul(scale).matmul(w).sigmoid();
const both = left.mul(right).add(left.square());
export const loss = both.mean();
`,
  },
  {
    title: "Double backward",
    about:
      "The gradient was made with createGraph, so it has a graph of its own: this is backward through backward, as a gradient penalty needs it. The nodes of the first backward are in the picture too, because it was recorded like any other computation.",
    code: `${kStart}const requiresGrad = true;
export const w = eg.randn([16, 1], { requiresGrad });
export const x = eg.randn([32, 16], { requiresGrad });

const y = x.matmul(w).tanh().sum();
const createGraph = true;
const [slope] = eg.autograd.grad(y, x, { createGraph });

const length = slope.norm(2, 1);
export const loss = length.sub(1).square().mean();
`,
  },
  {
    title: "A Function of your own",
    about:
      "StraightThroughBackward is JavaScript. The engine is C++, and calls it on the thread that registered it, wherever the rest of the graph runs; what it throws would arrive here as the same object.",
    code: `${kStart}// Rounds forward, and lets gradients through as if it had not.
class StraightThrough extends eg.autograd.Function {
  static forward(ctx, x) {
    ctx.saveForBackward(x);
    return x.round();
  }
  static backward(ctx, grad) {
    const [x] = ctx.savedTensors;
    return grad.mul(x.abs().le(3));
  }
}

export const w = eg.randn([64, 64]).requiresGrad_();
const x = eg.randn([32, 64]);
const whole = StraightThrough.apply(x.matmul(w));
export const loss = whole.square().mean();
`,
  },
  {
    title: "Checkpoint",
    about:
      "The block inside checkpoint keeps its input alone. The first of its nodes to run computes the block again: see how much longer it takes than its neighbours. (The saved tensors you see when you point at one were computed for you just the same.)",
    code: `${kStart}const requiresGrad = true;
export const w = eg.randn([256, 256], { requiresGrad });
export const x = eg.randn([128, 256], { requiresGrad });

const block = (a) => a.matmul(w).sin().mul(a).tanh();
const y = eg.autograd.checkpoint(block, x);
export const loss = y.square().mean();
`,
  },
  {
    title: "In-place on a view",
    about:
      "One column of y is changed through a view of it. CopySlices is the node that PyTorch has for that, too: it sends the column's gradient through the new operation and the rest past it.",
    code: `${kStart}export const x = eg.randn([32, 8]).requiresGrad_();

const y = x.mul(2);
y.select(1, 0).mul_(3).add_(1);
export const loss = y.square().sum();
`,
  },
  {
    title: "Two threads, one model",
    about:
      "A list of losses: each backward runs on a thread of its own, at the same time, and adds to the gradients of the same weights. Every call has a ready queue of its own; AccumulateGrad of a shared weight runs once for each call, and locks that leaf meanwhile.",
    code: `${kStart}const { Linear, Tanh, Sequential } = eg.nn;
export const model = new Sequential(
  new Linear(64, 512),
  new Tanh(),
  new Linear(512, 64),
);

function lossOf(x) {
  return model.call(x).sub(x).square().mean();
}
export const loss = [
  lossOf(eg.randn([512, 64])),
  lossOf(eg.randn([512, 64])),
];
`,
  },
  {
    title: "CPU and WebGPU in one graph",
    needsGpu: true,
    about:
      "ToDeviceBackward is where the graph changes the device. Nodes of the GPU go to the queue of its own thread, as PyTorch’s engine has one per device; the thread that called backward runs those of the CPU and waits for the others. A GPU node’s time is that of writing down its commands; only a node that brings numbers back waits for the GPU.",
    code: `${kStart}const device = "webgpu";
export const a = eg.randn([64, 64]).requiresGrad_();
export const b = eg.randn([64, 64], { device }).requiresGrad_();

const onGpu = a.to(device).matmul(b).relu();
const onCpu = a.matmul(a).tanh();
export const loss = onGpu.to("cpu").mul(onCpu).mean();
`,
  },
];
