// A user's program, which tests/js/project/types.test.mjs only compiles.

import * as eg from "edgegrad";
import * as onnx from "edgegrad/onnx";
import * as peft from "edgegrad/peft";
import * as transformers from "edgegrad/transformers";
import * as vis from "edgegrad/vis";

await eg.init({ threads: 2, variant: "auto", wasmUrl: (file) => `/wasm/${file}` });

// Tensors and ops, with arguments by position and by name.
const data = [
  [1, 2],
  [3, 4],
];
const x: eg.Tensor = eg.tensor(data, { requiresGrad: true, dtype: "float64" });
const y = x.add(1).mul(x).sum({ dim: 1, keepdim: true }).add_(2, { alpha: 3 });
const part: eg.Tensor = y.at(0, eg.slice(0, 1), null, "...");
const flat = x.permute(0, 1).reshape(-1, 2).sum();
const one: eg.Tensor = eg.linear(x, x, null);
const largest: eg.Tensor = x.max();
const [rowMaxima, rowIndices]: [eg.Tensor, eg.Tensor] = eg.max(x, 1);
const greater: eg.Tensor = x.max(largest);
const pooled: eg.Tensor = eg.maxPool2d(x, 2, { stride: 1 });
const [, places] = x.maxPool2d([2, 2], { returnIndices: true });
const picked: eg.Tensor = x.at([0, 1], [true, false], eg.slice(), null, "...", greater);
const dtype: eg.DType = x.dtype;
console.log(part, flat, one, rowMaxima, rowIndices, pooled, places.shape, picked, dtype);

// Composites, and convenience methods of tensors.
const distinct: eg.Tensor = eg.unique(x);
const counted: eg.Tensor[] = eg.unique(x, { returnCounts: true, dim: 0 });
const [mantissa, exponent]: [eg.Tensor, eg.Tensor] = eg.frexp(x);
const middle: eg.Tensor = eg.quantile(x, 0.5, 1, { keepdim: true });
const held: eg.Tensor[] = eg.where(x.gt(1));
const long: eg.Tensor = x.T.long().newZeros(2, x.size(0), { dtype: "int64" });
console.log(distinct, counted, mantissa, exponent, middle, held, long, eg.norm(x, "fro", 1));

// Functions with several results return a tuple, whose elements are never undefined.
const pairs: [eg.Tensor, eg.Tensor][] = [
  x.sort({ descending: true }),
  x.topk(2),
  x.min({ dim: 0 }),
  x.median(0),
  x.nanmedian(0),
  x.mode(),
  x.kthvalue(1),
  x.cummax(0),
  eg.cummin(x, 0),
  x.aminmax(),
  eg.varMean(x),
  eg.stdMean(x, 1),
  eg.slogdet(x),
  eg.qr(x),
  eg.eigh(x),
  eg.adaptiveMaxPool2d(x, 2, true),
];
const [u, s, vh]: [eg.Tensor, eg.Tensor, eg.Tensor] = eg.svd(x);
const [solution, residuals, rank] = eg.lstsq(x, y);
const parts: eg.Tensor[] = x.split(1);
console.log(pairs, u.shape, s.shape, vh.shape, solution.shape, residuals, rank, parts);
// @ts-expect-error: svd returns three tensors
const [, , , fourth] = x.svd();
console.log(fourth);

// Single values, rows and strings.
const value0: number = x.sum().item();
const isSmall: boolean = x.lt(1).all().item<boolean>();
const large: number | bigint = eg.tensor(1n).item<number | bigint>();
const { re }: eg.Complex = eg.complex(x, x).sum().item<eg.Complex>();
const waited: number = (await x.sum().itemAsync()) + 1;
const rows: eg.Tensor[] = [...x];
console.log(value0.toFixed(2), isSmall, large, re, waited, `${x}`, JSON.stringify(x));
for (const row of rows) row.mul(2);
// @ts-expect-error: operators do not compute with tensors
console.log(x * 2);

// Gradients.
const loss: eg.Tensor = eg.crossEntropy(y, x, { labelSmoothing: 0.1, reduction: "sum" });
loss.backward(null, { retainGraph: true });
const hook = x.registerHook((grad) => grad.mul(2));
hook.remove();
x.registerHook((grad) => {
  console.log(grad.item());
});
const [gradient, unused] = eg.autograd.grad([loss], [x, y], { allowUnused: true });
// No gradient is null unless inputs may be unused.
const used: eg.Tensor[] = eg.autograd.grad(loss, x, null, true, true);
const gradients: Promise<eg.Tensor[]> = eg.autograd.gradAsync(loss, [x, y], { createGraph: true });
// @ts-expect-error the gradient of an unused input is null
const noNulls: eg.Tensor[] = eg.autograd.grad(loss, x, { allowUnused: true });
console.log(used, gradients, noNulls);
gradient?.mul(1);
unused?.dispose();
const three: number = eg.noGrad(() => 3);
const later: Promise<number> = eg.scope(async () => three);
console.log(later);

// Modules, optimizers, data.
class Net extends eg.nn.Module {
  fc = new eg.nn.Linear(2, 3, { bias: false });

  override forward(input: eg.Tensor, isUsed = true): eg.Tensor {
    return isUsed ? this.fc.call(input) : input;
  }
}
const net = new Net();
class Tied extends eg.nn.Module {
  embedding = new eg.nn.Embedding(8, 4);
  head = new eg.nn.Linear(4, 8, { bias: false });
  steps = new eg.nn.Buffer(eg.zeros([1]), { persistent: false });

  constructor() {
    super();
    this.head.weight = this.embedding.weight;
    this.head.bias = null;
    new eg.nn.BatchNorm1d(4).running_mean = new eg.nn.Buffer(eg.zeros([4]));
    // @ts-expect-error: a plain tensor is not a parameter
    this.head.weight = eg.zeros([8, 4]);
    // @ts-expect-error: a plain tensor is not a buffer
    this.steps = eg.zeros([1]);
  }

  override extraRepr(): string {
    return `persistent=${this.steps.persistent}`;
  }
}
const tied: string = String(new Tied());
const kept: eg.nn.Buffer[] = new Tied().buffers();
console.log(tied, kept);
const output: eg.Tensor = net.call(x, false);
const model = new eg.nn.Sequential(new eg.nn.Linear(1, 2, false), new eg.nn.ReLU(), net);
const adam = new eg.optim.AdamW(model.parameters(), { lr: 1e-3, betas: [0.9, 0.95] });
adam.step();
const sgd = new eg.optim.SGD([{ params: net.parameters(), lr: 0.1 }], { momentum: 0.9 });
for (const group of sgd.paramGroups) group.lr = 3;
const dataset = new eg.data.TensorDataset(x, output);
for await (const [input, target] of new eg.data.DataLoader(dataset, { batchSize: 2 })) {
  if (input && target) eg.mseLoss(input, target);
}
const bytes: Uint8Array = eg.io.saveSafetensors(net.stateDict());
console.log(bytes);
const loaded: Record<string, eg.Tensor> = eg.io.loadSafetensors(bytes, { device: "webgpu" });
const moved: eg.nn.Linear = new eg.nn.Linear(2, 2).to({ device: "webgpu", dtype: "float32" });
const there: eg.Device = eg.zerosLike(x, { device: "cpu" }).device;
console.log(loaded, moved, there, eg.webgpuStats()?.dispatches, eg.runtime().webgpu?.vendor);
const listener: eg.LossHandle = eg.onDeviceLost(({ code }) => console.log(code));
listener.remove();
async function onPage(device: object, buffer: { size: number; usage: number }): Promise<eg.Tensor> {
  await eg.init({ webgpu: { device } });
  const given: eg.Tensor = eg.fromGPUBuffer(buffer, { shape: [2, 3], dtype: "int32", offset: 8 });
  const { offset, size, isView } = await given.toGPUBuffer({ write: true });
  const shown = eg.fromImage({}, { size: [4, 4], normalize: { mean: 0, std: [1, 2, 3] } });
  await eg.toCanvas(shown, {});
  const lost: eg.EdgeGradError = await eg.deviceLost();
  console.log(offset + size, isView, lost.code);
  return given;
}
console.log(onPage);
// @ts-expect-error: the shape is not known
eg.fromGPUBuffer({ size: 4, usage: 4 }, {});
// @ts-expect-error: there is no such device
eg.io.loadSafetensors(bytes, { device: "cuda" });

// Lifetimes and errors.
{
  using guard = eg.noGrad();
  using temporary = eg.zeros(2, 3);
  console.log(guard, temporary.shape);
}
try {
  eg.zeros([1]);
} catch (error) {
  if (error instanceof eg.EdgeGradError && error.code === "OutOfMemory") console.log(error.message);
}

// @ts-expect-error: an option of Python
new eg.nn.Linear(2, 3, { Bias: false });
// @ts-expect-error: a setting of Python
new eg.optim.Adam(net.parameters(), { weight_decay: 0.1 });
new eg.optim.SGD(net.parameters(), 0.5, { momentum: 0.9 });
// @ts-expect-error: a rate is a number
new eg.optim.SGD(net.parameters(), "0.5");
// @ts-expect-error: an unknown padding mode
new eg.nn.Conv2d(1, 2, 3, { paddingMode: "mirror" });
const convolution = new eg.nn.Conv2d(1, 2, [3, 3], { padding: "same", bias: false });
const padding: eg.nn.PaddingMode = convolution.paddingMode;
// Layers whose classes are made from declarations.
class ScaledHuber extends eg.nn.HuberLoss {
  scale = 2;
  override forward(input: eg.Tensor, target: eg.Tensor): eg.Tensor {
    return super.forward(input, target).mul(this.scale);
  }
}
const huber = new ScaledHuber("sum", { delta: 2 });
const delta: number = huber.delta;
const huberOptions: eg.nn.HuberLossOptions = { reduction: "none", delta: 1 };
const lossOfHuber: eg.Tensor = huber.call(x, x);
const dim: number | null = new eg.nn.Softmax({ dim: 1 }).dim;
// @ts-expect-error: fields are read-only
huber.delta = 3;
// @ts-expect-error: a number
new eg.nn.HuberLoss("mean", "1");
// @ts-expect-error: no such option
new eg.nn.ELU({ Alpha: 1 });
// @ts-expect-error: Tanh takes no arguments
new eg.nn.Tanh(1);
// @ts-expect-error: the kernel size is missing
new eg.nn.MaxPool2d();
console.log(delta, huberOptions, lossOfHuber, dim);
const options: eg.nn.LSTMOptions = { numLayers: 2, projSize: 1, dtype: "float64" };
const recurrent = new eg.nn.LSTM(2, 3, options);
eg.nn.init.kaimingUniform_(convolution.weight, { nonlinearity: "relu" });
console.log(padding, recurrent, eg.full([2], 1, { requiresGrad: true }).dtype);
// @ts-expect-error: options come second
x.backward({ retainGraph: true });
// @ts-expect-error: an unknown reduction
eg.mseLoss(x, y, { reduction: "avg" });
// @ts-expect-error: a string is not an operand
x.add("1");
// @ts-expect-error: not for users
console.log(x.handle);
// @ts-expect-error: read-only
x.shape = [1];
// @ts-expect-error: no such code
console.log(new eg.EdgeGradError("Nonsense", ""));

// Hooks, nodes and graphs.
x.registerPostAccumulateGradHook((param) => {
  param.dispose();
});
const node: eg.Node | null = y.gradFn;
if (node !== null) {
  const [[next, position] = [null, 0]] = node.nextFunctions;
  const numbers: number[] = [position, node.sequenceNr, node.topologicalNr];
  node.metadata.note = numbers;
  node.registerHook((gradInputs, gradOutputs) => {
    console.log(gradInputs.length, gradOutputs[0]?.item());
  });
  node.registerPrehook((gradOutputs) => gradOutputs.map((one) => one?.mul(2) ?? null)).remove();
  node.rawSaved.self?.registerHooks(
    (one) => one.shape,
    (shape) => eg.zeros(shape),
  );
  console.log(next?.name, Object.keys(node.saved));
}
const { graph } = eg.autograd;
graph.registerMultiGradHook([x, y], (grads) => {
  grads[0]?.dispose();
});
graph.registerMultiGradHook([x, y], (one) => one.dispose(), "any").remove();
const packed: eg.Tensor = graph.savedTensorsHooks(
  (one) => ({ bytes: one.dataSync(), shape: one.shape }),
  ({ shape }) => eg.zeros(shape),
  () => graph.saveOnCpu(() => x.exp()),
);
const edge = graph.getGradientEdge(packed);
eg.autograd.backward(edge, { gradTensors: packed, inputs: [x, edge] });

// Custom Functions.
class LazyScale extends eg.nn.LazyModuleMixin(eg.nn.Module) {
  factor = new eg.nn.UninitializedParameter({ dtype: "float64" });

  override initializeParameters(input: eg.Tensor): void {
    this.factor.materialize(input.shape.slice(-1));
  }

  override forward(input: eg.Tensor): eg.Tensor {
    return input.mul(this.factor);
  }
}
const lazyLinear: eg.nn.Linear = new eg.nn.LazyLinear(3, { bias: false });
const lazyConv: eg.nn.Conv2d = new eg.nn.LazyConv2d(4, 3, { padding: 1 });
const lazyNorm = new eg.nn.LazyBatchNorm1d({ affine: false });
const lazyScale: LazyScale = new LazyScale();
const lazyResult: eg.Tensor = lazyScale.call(lazyNorm.call(lazyLinear.call(x)));
console.log(lazyConv.inChannels, lazyScale.hasUninitializedParams(), lazyResult.shape);

class Scale extends eg.autograd.Function {
  static override readonly onceDifferentiable = true;

  static override forward(ctx: eg.autograd.FunctionContext, input: eg.Tensor, factor: number) {
    ctx.saveForBackward(input);
    ctx.factor = factor;
    return input.mul(factor);
  }

  static override backward(ctx: eg.autograd.FunctionContext, grad: eg.Tensor) {
    const factor: number = ctx.factor;
    return [ctx.needsInputGrad[0] === true ? grad.mul(factor) : null, null];
  }

  static override jvp(ctx: eg.autograd.FunctionContext, tangent: eg.Tensor) {
    return tangent.mul(ctx.factor as number);
  }
}
const scaled: eg.Tensor = Scale.apply(x, 3);
// @ts-expect-error: the arguments are those of forward.
Scale.apply("three", scaled);

// Derivatives of functions.
const cube = (input: eg.Tensor) => input.pow(3);
const one1: eg.Tensor = eg.autograd.functional.jacobian(cube, x);
const [value, product] = eg.autograd.functional.vjp(cube, x, one1, { createGraph: true });
const [, [first]] = eg.autograd.functional.hvp((a, b) => a.mul(b).sum(), [x, y], [value, product]);
const isRight: boolean = eg.autograd.gradcheck(cube, x, { eps: 1e-5, raiseException: true });
const { primal, tangent } = eg.autograd.forwardAd.dualLevel(() =>
  eg.autograd.forwardAd.unpackDual(eg.autograd.forwardAd.makeDual(x, one1)),
);
const recomputed: eg.Tensor = eg.autograd.checkpoint((a, k: number) => a.mul(k), x, 3);
const alsoRecomputed: eg.Tensor = eg.autograd.checkpoint((a: eg.Tensor) => a.sin(), x, {
  contextFn: () => eg.autograd.createSelectiveCheckpointContexts(["sin"]),
});
const { result, events } = eg.autograd.profile(() => eg.autograd.detectAnomaly(() => 3));
const durations: number[] = events.map((event) => event.duration + result);
const dot: string = eg.autograd.toDot(recomputed, {
  params: net.namedParameters(),
  showSaved: true,
});
console.log(first, isRight, primal, tangent, durations, dot, alsoRecomputed);
{
  using mode = eg.inferenceMode();
  console.log(mode, eg.isInferenceModeEnabled());
}
net.registerForwardHook((module, inputs, output) => void console.log(module, inputs, output));
net.registerFullBackwardHook((_, gradInputs) => gradInputs).remove();
net.registerFullBackwardPreHook((_, gradOutputs) => gradOutputs).remove();
net.registerLoadStateDictPostHook((_, keys) => void keys.missingKeys.push("more")).remove();

// Layers with several results, schedulers, clipping.
const lstm = new eg.nn.LSTM(2, 3, { numLayers: 2, bidirectional: true, projSize: 1 });
const [steps, [hidden, cell]] = lstm.call(x);
lstm.call(x, [hidden, cell]);
const gru = new eg.nn.GRU(2, 3, 1, true, true);
const [, state]: [eg.Tensor, eg.Tensor] = gru.call(steps, null);
const attention = new eg.nn.MultiheadAttention(4, 2, 0.1, { batchFirst: true });
const [, weights] = attention.call(state, state, state, { needWeights: false, attnMask: null });
weights?.dispose();
attention.call(state, state, state, null, true, x);
const encoder = new eg.nn.TransformerEncoderLayer(4, 2, { activation: (input) => input.tanh() });
encoder.to("float64").call(state, { srcMask: x });
new eg.nn.Sequential(new eg.nn.RMSNorm(4), encoder, new eg.nn.Softmax(-1)).to({ dtype: "float32" });
const clipped: eg.Tensor = eg.nn.utils.clipGradNorm_(lstm.parameters(), 1, { normType: 1 });
const { lrScheduler } = eg.optim;
const schedulers: eg.optim.lrScheduler.LRScheduler[] = [
  new lrScheduler.StepLR(sgd, 2, 0.5),
  new lrScheduler.LinearLR(adam, { totalIters: 3 }),
  new lrScheduler.CosineAnnealingLR(new eg.optim.RMSprop([x], { centered: true }), 10),
  new lrScheduler.LambdaLR(new eg.optim.Adagrad([x]), (epoch) => 1 / (1 + epoch)),
  new lrScheduler.OneCycleLR(sgd, 0.1, { totalSteps: 5, annealStrategy: "linear" }),
  new lrScheduler.MultiStepLR(sgd, { milestones: [2, 3], gamma: 0.5 }),
  new lrScheduler.ExponentialLR(sgd, { gamma: 0.5 }),
  new lrScheduler.LambdaLR(sgd, { lrLambda: [(epoch) => 1 / (1 + epoch)] }),
  new lrScheduler.CyclicLR(sgd, { baseLr: 0.1, maxLr: 0.2 }),
  new lrScheduler.CosineAnnealingWarmRestarts(sgd, { t0: 3, tMult: 2 }),
];
for (const scheduler of schedulers) scheduler.step();
console.log(clipped, schedulers[0]?.getLastLr());
// @ts-expect-error: no such curve
new lrScheduler.OneCycleLR(sgd, 0.1, { totalSteps: 5, annealStrategy: "step" });
new lrScheduler.SequentialLR(sgd, { schedulers, milestones: [1] });
// @ts-expect-error milestones are needed
new lrScheduler.SequentialLR(sgd, { schedulers });
// @ts-expect-error a rate is needed
new lrScheduler.ExponentialLR(sgd, {});

// A worker of a browser, one of Node, and the URL of a module.
declare const pageWorker: {
  postMessage(message: object, transfer: object[]): void;
  terminate(): void;
};
declare const nodeWorker: {
  postMessage(message: unknown, transfer?: readonly object[]): void;
  terminate(): Promise<number>;
};
const trained: number = await eg.spawn<number>(pageWorker, "train", x, 3);
await eg.spawn(nodeWorker, "train", x, 3);
await eg.spawn({ href: "file:///worker.js" }, "train", x, 3);

// A signal, whose class is only known with the DOM or Node's types.
declare const signal: eg.AbortSignalLike;
await eg.spawn(nodeWorker, "train", x, 3, { signal });
await x.sum().backwardAsync(null, { signal });
await eg.autograd.backwardAsync(x.sum(), { retainGraph: true, signal });
await eg.autograd.gradAsync(x.sum(), x, { signal });
// @ts-expect-error: the synchronous forms cannot be ended.
x.sum().backward(null, { signal });
eg.expose({ train: (weights: eg.Tensor, steps: number) => weights.numel * steps * trained });

// Python habits that the compiler already rejects.
// @ts-expect-error numel is a property
x.numel();
// @ts-expect-error shape is a property too, and its elements are numbers
x.shape[0]();
// @ts-expect-error modules have call()
net(x);
// @ts-expect-error indices go to at()
x[0];
// @ts-expect-error the number of rows is x.shape[0]
for (let i = 0; i < x.length; i++) console.log(i);
// @ts-expect-error a range is eg.slice()
x.at(":");
// @ts-expect-error unique() is a function
x.unique();
// @ts-expect-error several results are an array
x.max(1).indices;
// @ts-expect-error one tensor has no counts
eg.unique(x).counts;
// @ts-expect-error it is called int64
eg.zeros([2], { dtype: "long" });
// @ts-expect-error tensors are not numbers
1 - x;
// @ts-expect-error methods are not numbers either
x.size * 2;
// @ts-expect-error it is called requiresGrad
x.requires_grad = true;
eg.zeros([2], { dtype: eg.long }).to(eg.float64);

// Distributions are declared: constructors, parameters, base distributions and subclasses have their types.
const { distributions: d } = eg;
class Shifted extends d.Normal {
  constructor(loc: eg.Tensor) {
    super(loc, 1, { validateArgs: false });
  }
  override get loc(): eg.Tensor {
    return super.mean.add(1);
  }
  override logProb(value: eg.Tensor): eg.Tensor {
    return super.logProb(value).add(this.parameters.scale);
  }
}
class Falling extends d.ExpTransform {
  override get sign(): number {
    return -1;
  }
  protected override forward(value: eg.Tensor): eg.Tensor {
    return super.forward(value).neg();
  }
}
d.registerKl(Shifted, d.Gumbel, (p, q) => p.loc.sub(q.scale));
d.Normal.setDefaultValidateArgs(true);
const scale: eg.Tensor = new d.TransformedDistribution(new Shifted(x), [new Falling()]).baseDist
  .scale;
const underlying: eg.distributions.Normal = new d.LogNormal(0, 1).baseDist;
const draws: number = new d.Multinomial({ totalCount: 3, probs: x }).totalCount;
const wide: eg.distributions.Gamma = new d.Gamma(1, x).expand([3]);
const shift: eg.distributions.Parameter = new d.AffineTransform(1, 2, { eventDim: 1 }).loc;
const anyDistribution: eg.distributions.Distribution = new d.StudentT(3, { loc: 1 });
const anyClass: eg.distributions.DistributionClass<eg.distributions.Normal> = Shifted;
console.log(scale, underlying, draws, wide, shift, anyDistribution, anyClass);
// @ts-expect-error a text is no parameter
new d.Normal("a", 1);
// @ts-expect-error the scale is missing
new d.Normal(0);
// @ts-expect-error it is called validateArgs
new d.Normal(0, 1, { validate: true });
// @ts-expect-error parameters do not change
new d.Normal(0, 1).loc = x;
// @ts-expect-error Normal has no rate
new d.Normal(0, 1).rate;

// Add-ons.
const opened: onnx.OnnxModule = await onnx.load(new Uint8Array(), { trainable: false });
const outputs: eg.Tensor | eg.Tensor[] = opened.call(eg.ones([1]));
const byName: Record<string, eg.Tensor> = opened.run({ x: eg.ones([1]) });
console.log(opened.inputs[0]?.shape.length, outputs, byName, (await onnx.supportedOps())[0]?.name);
// @ts-expect-error a text is no source
await onnx.load("model.onnx");

const language = await transformers.AutoModelForCausalLM.fromPretrained("folder", {
  dtype: "float32",
});
const tokens = eg.ones([1, 2], { dtype: "int64" });
const scored: eg.Tensor = language.call(tokens, { labels: tokens }).logits;
const lost: eg.Tensor | undefined = language.call(tokens).loss;
const adapted = peft.getPeftModel(
  language,
  new peft.LoraConfig({ r: 4, targetModules: ["q_proj"] }),
);
const scoredToo: eg.Tensor = adapted.call(tokens, { useCache: true }).logits;
const written: eg.Tensor = await adapted.generate(tokens, { maxNewTokens: 3, topK: 5 });
const plain: transformers.CausalLanguageModel = adapted.mergeAndUnload();
const layers = peft.getPeftModel(opened, new peft.LoraConfig({ targetModules: "all-linear" }));
const stored: Record<string, Uint8Array> = await layers.savePretrained();
const images = await transformers.AutoModelForImageClassification.fromPretrained({
  "a.json": "{}",
});
const classes: eg.Tensor = images.call(eg.ones([1, 3, 4, 4]), { labels: tokens }).logits;
const seeing: transformers.ImageTextModel =
  await transformers.AutoModelForImageTextToText.fromPretrained({ "a.json": "{}" });
const seen: eg.Tensor = seeing.call(tokens, { pixelValues: eg.ones([1, 3, 4, 4]) }).logits;
const told: eg.Tensor = await seeing.generate(tokens, { imageFeatures: seen, maxNewTokens: 3 });
const fitted: transformers.FitResult = await transformers.fit(adapted, [], {
  optimizer: new eg.optim.AdamW(adapted.parameters(), { lr: 1e-3 }),
});
console.log(scored, lost, scoredToo, written, plain, stored, classes, told, fitted.loss);
// @ts-expect-error it is called loraAlpha
new peft.LoraConfig({ lora_alpha: 4 });
// @ts-expect-error a classifier of images reads no masks
images.call(tokens, { attentionMask: tokens });
// @ts-expect-error a linear layer does not generate
await peft.getPeftModel(new eg.nn.Linear(1, 1), new peft.LoraConfig()).generate(tokens);

const run: vis.Run = vis.createLog().run("first");
run.addScalar("loss", 1n, 2);
const table: string = String(vis.summary(layers, eg.ones([1, 3])));
const slowest: vis.TimeRow | undefined = vis.profileStep(layers, () => {}).byLayer()[0];
const confusion: number[][] = vis.confusionMatrix([0, 1], eg.ones([2]), 2);
const chart: Promise<string> = vis.terminalChart(vis.createLog(), { tags: ["loss"], width: 60 });
vis.recordMemory(new vis.CsvWriter("memory.csv"), 1, layers);
console.log(table, slowest?.share, confusion, chart, vis.pca(eg.ones([4, 3]), 2).shape);
// @ts-expect-error a log keeps "image", not "images"
vis.createLog({ images: 5 });
// @ts-expect-error the step is a number
run.addScalar("loss", 1, "2");
