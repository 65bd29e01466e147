// Example models. Each is a module that exports `loss`; other exports only name the leaves.

export interface Preset {
  readonly title: string;
  /** What to look for. */
  readonly about: string;
  readonly code: string;
  readonly needsGpu?: boolean;
}

const kStart = `import * as eg from "edgegrad";\n\n`;

export const kPresets: readonly Preset[] = [
  {
    title: "Multilayer perceptron",
    about:
      "A single chain with the weights attached to it. Each Addmm computes three gradients at once. AccumulateGrad has the highest possible sequence number, so the weights receive their gradients before the chain continues.",
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
      "Two branches use w, so AccumulateGrad of w has two incoming edges: it waits until both gradients have been computed and added. Watch the queue: of two nodes that are ready, the one created later in forward runs first.",
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
      "The gradient was computed with createGraph, so it has its own graph: this is backward through backward, which a gradient penalty needs. The nodes of the first backward are in the picture too, because it was recorded like any other computation.",
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
    title: "A custom Function",
    about:
      "StraightThroughBackward is JavaScript. The C++ engine calls it on the thread that registered it, wherever the rest of the graph runs. If it threw an error, the same object would arrive at the caller of backward.",
    code: `${kStart}// Rounds in forward, and passes gradients through as if it did not.
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
      "The block inside checkpoint only saves its input. The first of its nodes to run computes the block again: see how much longer it takes than its neighbors. (The saved tensors that you see when you point at a node were recomputed to show them.)",
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
      "One column of y is changed through a view. CopySlices is the node for this, as in PyTorch: it passes the gradient of that column through the new operation, and the rest around it.",
    code: `${kStart}export const x = eg.randn([32, 8]).requiresGrad_();

const y = x.mul(2);
y.select(1, 0).mul_(3).add_(1);
export const loss = y.square().sum();
`,
  },
  {
    title: "Two threads, one model",
    about:
      "A list of losses: each backward runs on its own thread, at the same time, and adds to the gradients of the same weights. Every call has its own ready queue; AccumulateGrad of a shared weight runs once per call, and locks that leaf while it runs.",
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
      "At ToDeviceBackward the graph changes the device. As in PyTorch, each device has its own thread with a queue: GPU nodes go to that queue, and the thread that called backward runs the CPU nodes and waits for the others. The time of a GPU node is the time to record its commands; only a node that copies values back waits for the GPU.",
    code: `${kStart}const device = "webgpu";
export const a = eg.randn([64, 64]).requiresGrad_();
export const b = eg.randn([64, 64], { device }).requiresGrad_();

const onGpu = a.to(device).matmul(b).relu();
const onCpu = a.matmul(a).tanh();
export const loss = onGpu.to("cpu").mul(onCpu).mean();
`,
  },
];
