// Examples that neither samples, recipes nor the guide have. What `console.log()` prints is added when they run.

/** Programs by the name that they show, without their imports. */
export const kByHand = {
  Tensor: `
const x = eg.tensor([[1, 2], [3, 4]], { requiresGrad: true });
x.square().sum().backward();
console.log(x.shape, x.dtype, String(x.grad));`,
  Slice: `
const x = eg.arange(6);
const everySecond = eg.slice(null, null, 2);
console.log(everySecond instanceof eg.Slice, String(x.at(everySecond)));`,
  finfo: `
const { eps, max } = eg.finfo("float32");
console.log(eps, max);`,
  iinfo: `
const { min, max } = eg.iinfo("int8");
console.log(min, max);`,
  getDefaultDtype: `
console.log(eg.getDefaultDtype(), eg.zeros([2]).dtype);`,
  setDefaultDtype: `
eg.setDefaultDtype("float64");
console.log(eg.zeros([2]).dtype);
eg.setDefaultDtype("float32");`,
  isGradEnabled: `
console.log(eg.isGradEnabled(), eg.noGrad(() => eg.isGradEnabled()));`,
  isInferenceModeEnabled: `
console.log(eg.isInferenceModeEnabled(), eg.inferenceMode(() => eg.isInferenceModeEnabled()));`,
  setWarnAlways: `
eg.setWarnAlways(true); // every warning is repeated
eg.setWarnAlways(false); // each is written once
console.log("quiet again");`,
  "data.idx": `
// The format of MNIST: two zeros, the dtype (8: uint8), the number of dims, their sizes, the elements.
const bytes = Uint8Array.of(0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9);
console.log(String(eg.data.idx(bytes)));`,
  "distributions.Distribution": `
const coin = new eg.distributions.Bernoulli({ probs: 0.5 });
console.log(coin instanceof eg.distributions.Distribution, String(coin.mean));`,
  "distributions.ExponentialFamily": `
const normal = new eg.distributions.Normal(0, 1);
console.log(normal instanceof eg.distributions.ExponentialFamily, normal.entropy().item().toFixed(4));`,
  "distributions.Transform": `
const exp = new eg.distributions.ExpTransform();
console.log(exp instanceof eg.distributions.Transform, String(exp.call(eg.tensor([0, 1]))));`,
  "distributions.bijectTo": `
const { bijectTo, constraints } = eg.distributions;
const transform = bijectTo(constraints.positive);
console.log(String(transform.call(eg.tensor([-1, 0, 1]))));`,
  "distributions.transformTo": `
const { transformTo, constraints } = eg.distributions;
console.log(String(transformTo(constraints.interval(1, 5)).call(eg.tensor([0, 1]))));`,
  "distributions.constraints.Constraint": `
const { constraints } = eg.distributions;
console.log(constraints.positive instanceof constraints.Constraint, String(constraints.positive.check(eg.tensor([-1, 1]))));`,
  "distributions.constraints.cat": `
const { cat, positive, unitInterval } = eg.distributions.constraints;
const both = cat([positive, unitInterval], 0, [1, 2]);
console.log(String(both.check(eg.tensor([5, 0.5, 2]))));`,
  "distributions.constraints.stack": `
const { stack, positive, lessThan } = eg.distributions.constraints;
const both = stack([positive, lessThan(0)], 0);
console.log(String(both.check(eg.tensor([5, 5]))));`,
  "distributions.constraints.halfOpenInterval": `
const { halfOpenInterval } = eg.distributions.constraints;
console.log(String(halfOpenInterval(0, 1).check(eg.tensor([0, 0.5, 1]))));`,
  "distributions.registerKl": `
const { Normal, klDivergence, registerKl } = eg.distributions;
class Shifted extends Normal {}
registerKl(Shifted, Normal, (p, q) => p.loc.sub(q.loc).square());
console.log(String(klDivergence(new Shifted(3, 1), new Normal(1, 1))));`,
  "nn.LazyModuleMixin": `
class Scale extends eg.nn.LazyModuleMixin(eg.nn.Module) {
  factor = new eg.nn.UninitializedParameter();
  initializeParameters(x) {
    this.factor.materialize([x.size(-1)]);
    eg.nn.init.ones_(this.factor);
  }
  forward(x) {
    return x.mul(this.factor);
  }
}
const scale = new Scale();
console.log(scale.call(eg.ones([2, 3])).shape, scale.factor.shape);`,
  "nn.UninitializedParameter": `
const weight = new eg.nn.UninitializedParameter();
weight.materialize([2, 3]); // now that the shape is known
console.log(weight.shape, weight.requiresGrad);`,
  "nn.UninitializedBuffer": `
const mean = new eg.nn.UninitializedBuffer();
mean.materialize([3]);
console.log(mean.shape);`,
  "nn.init.fans": `
console.log(eg.nn.init.fans(eg.zeros([4, 3])));`,
  "nn.utils.getTotalNorm": `
const gradients = [eg.tensor([3, 0]), eg.tensor([0, 4])];
console.log(String(eg.nn.utils.getTotalNorm(gradients)));`,
  "nn.utils.clipGradsWithNorm_": `
const w = eg.ones([2], { requiresGrad: true });
w.mul(eg.tensor([3, 4])).sum().backward();
eg.nn.utils.clipGradsWithNorm_([w], 1, eg.nn.utils.getTotalNorm([w.grad]));
console.log(String(w.grad));`,
  "nn.utils.removeWeightNorm": `
const layer = eg.nn.utils.weightNorm(new eg.nn.Linear(3, 2));
eg.nn.utils.removeWeightNorm(layer);
console.log([...layer.namedParameters()].map(([name]) => name));`,
  "nn.utils.parametrize.ParametrizationList": `
const layer = new eg.nn.Linear(3, 2);
eg.nn.utils.parametrize.registerParametrization(layer, "bias", new eg.nn.Tanh());
const list = layer.parametrizations.bias;
console.log(list instanceof eg.nn.utils.parametrize.ParametrizationList, list.length);`,
  "nn.utils.parametrize.removeParametrizations": `
const { registerParametrization, removeParametrizations, isParametrized } = eg.nn.utils.parametrize;
const layer = new eg.nn.Linear(3, 2);
registerParametrization(layer, "bias", new eg.nn.Tanh());
removeParametrizations(layer, "bias");
console.log(isParametrized(layer));`,
  "nn.utils.parametrize.transferParametrizationsAndParams": `
const { registerParametrization, transferParametrizationsAndParams, isParametrized } = eg.nn.utils.parametrize;
const [from, to] = [new eg.nn.Linear(3, 2), new eg.nn.Linear(3, 2)];
registerParametrization(from, "bias", new eg.nn.Tanh());
transferParametrizationsAndParams(from, to);
console.log(isParametrized(to, "bias"));`,
  "nn.utils.prune.BasePruningMethod": `
const { BasePruningMethod } = eg.nn.utils.prune;
class EverySecond extends BasePruningMethod {
  computeMask(weight, mask) {
    return mask.mul(eg.arange(weight.numel).reshape(weight.shape).remainder(2));
  }
}
const layer = new eg.nn.Linear(4, 1);
EverySecond.apply(layer, "weight");
console.log(String(layer.weight.ne(0)));`,
  "nn.utils.prune.remove": `
const { l1Unstructured, isPruned, remove } = eg.nn.utils.prune;
const layer = new eg.nn.Linear(4, 2);
l1Unstructured(layer, "weight", { amount: 4 });
remove(layer, "weight"); // the zeros stay
console.log(isPruned(layer), layer.weight.eq(0).sum().item());`,
  "nn.utils.rnn.PackedSequence": `
const packed = eg.nn.utils.rnn.packSequence([eg.tensor([[1], [2]]), eg.tensor([[3]])]);
console.log(packed instanceof eg.nn.utils.rnn.PackedSequence, String(packed.batchSizes));`,
  "optim.lrScheduler.BaseScheduler": `
const optimizer = new eg.optim.SGD([eg.ones([2], { requiresGrad: true })], { lr: 0.1 });
const scheduler = new eg.optim.lrScheduler.StepLR(optimizer, 2);
console.log(scheduler instanceof eg.optim.lrScheduler.BaseScheduler);`,
  "edgegrad/metrics.accuracy": `
const scores = eg.tensor([[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]]);
console.log(accuracy(scores, eg.tensor([1n, 0n, 0n])).item().toFixed(2));`,
  "edgegrad/metrics.ConfusionMatrix": `
const confusion = new ConfusionMatrix(2);
confusion.update(eg.tensor([[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]]), eg.tensor([1n, 0n, 0n]));
console.log(String(confusion.counts));
console.log(String(confusion.recall()));`,
  "edgegrad/metrics.perplexity": `
const logits = eg.tensor([[2, 0, 0], [0, 2, 0]]);
console.log(String(perplexity(logits, eg.tensor([0n, 1n]))));`,
  "edgegrad/metrics.r2Score": `
console.log(String(r2Score(eg.tensor([1, 2, 3.5]), eg.tensor([1, 2, 3]))));`,
  "edgegrad/metrics.rocAuc": `
const scores = eg.tensor([0.1, 0.4, 0.35, 0.8]);
console.log(String(rocAuc(scores, eg.tensor([0n, 0n, 1n, 1n]))));`,
  "edgegrad/pyodide.wheelUrl": `
console.log(wheelUrl().pathname.endsWith("-py3-none-any.whl"));`,
  "edgegrad/onnx.supportedOps": `
const ops = supportedOps();
console.log(ops.length > 100, typeof ops[0]);`,
  "edgegrad/transformers.supportedModels": `
console.log(supportedModels().includes("gpt2"));`,
  "edgegrad/transformers.packExamples": `
const examples = [{ inputIds: [1, 2, 3] }, { inputIds: [4, 5] }];
console.log(packExamples(examples, 4).map(({ inputIds }) => inputIds));`,
  "edgegrad/transformers.KeyValueCache": `
const cache = new KeyValueCache(128);
console.log(cache.length, cache.capacity);`,
  "edgegrad/federated.FedProx": `
console.log(new FedProx({ mu: 0.1 }).client);`,
  "edgegrad/federated.FedAdam": `
const global = { w: eg.tensor([1]) };
const updates = [{ client: "alice", samples: 1, weights: { w: eg.tensor([2]) } }];
const strategy = new FedAdam({ lr: 0.1 });
console.log(strategy.aggregate(global, updates, 1).w.item() > 1);`,
  "edgegrad/federated.FedYogi": `
const global = { w: eg.tensor([1]) };
const updates = [{ client: "alice", samples: 1, weights: { w: eg.tensor([2]) } }];
const strategy = new FedYogi({ lr: 0.1 });
console.log(strategy.aggregate(global, updates, 1).w.item() > 1);`,
  "edgegrad/federated.Median": `
const of = (client, value) => ({ client, samples: 1, weights: { w: eg.tensor([value]) } });
const updates = [of("alice", 1), of("bob", 2), of("mallory", 1000)];
console.log(String(new Median().aggregate({ w: eg.tensor([0]) }, updates, 1).w));`,
  "edgegrad/federated.TrimmedMean": `
const of = (client, value) => ({ client, samples: 1, weights: { w: eg.tensor([value]) } });
const updates = [of("alice", 1), of("bob", 2), of("carol", 3), of("mallory", 1000)];
console.log(String(new TrimmedMean({ share: 0.25 }).aggregate({ w: eg.tensor([0]) }, updates, 1).w));`,
  "edgegrad/federated.Krum": `
const of = (client, value) => ({ client, samples: 1, weights: { w: eg.tensor([value]) } });
const updates = [of("alice", 1), of("bob", 1.1), of("carol", 0.9), of("dan", 1), of("mallory", 1000)];
console.log(String(new Krum({ byzantine: 1 }).aggregate({ w: eg.tensor([0]) }, updates, 1).w));`,
  "edgegrad/federated.DiLoCo": `
const strategy = new DiLoCo();
const updates = [{ client: "alice", samples: 1, weights: { w: eg.tensor([2]) } }];
console.log(strategy.aggregate({ w: eg.tensor([1]) }, updates, 1).w.item() > 1);`,
  "edgegrad/federated.Scaffold": `
console.log(new Scaffold({ clients: 4 }) instanceof Strategy);`,
  "edgegrad/vis.RunLog": `
const log = createLog();
log.run("first").addScalar("loss", 0.5, 1);
console.log(log instanceof RunLog, [...log.runs.keys()].length);`,
  "edgegrad/vis.Run": `
const run = createLog().run("first");
run.addScalar("loss", 0.5, 1);
console.log(run instanceof Run, run.latest("scalar", "loss")?.value);`,
  "edgegrad/vis.Recorder": `
const run = createLog().run("first");
console.log(run instanceof Recorder);`,
  "edgegrad/vis.memoryByKind": `
const model = new eg.nn.Linear(8, 8);
console.log(memoryByKind(model).parameters);`,
};

/** Names whose example is that of another: the class of a function's result, or two functions that are used together. */
export const kSameAs = {
  "autograd.FunctionContext": "autograd.Function",
  expose: "spawn",
  fromGPUBuffer: "webgpuStats",
  "edgegrad/vis.StepProfile": "edgegrad/vis.profileStep",
  "edgegrad/vis.ModuleSummary": "edgegrad/vis.summary",
  "edgegrad/vis.Watcher": "edgegrad/vis.watch",
  "edgegrad/vis.FileWriter": "edgegrad/vis.SummaryWriter",
  "edgegrad/vis.JsonlWriter": "edgegrad/vis.CsvWriter",
  "edgegrad/onnx.OnnxModule": "edgegrad/onnx.load",
  "edgegrad/onnx.inspect": "edgegrad/onnx.load",
  "edgegrad/federated.Client": "edgegrad/federated.join",
  "edgegrad/transformers.CausalLanguageModel": "edgegrad/transformers.dpoLoss",
  "edgegrad/transformers.PreTrainedModel": "edgegrad/transformers.dpoLoss",
};

const group = (code) => `import * as eg from "edgegrad";
import * as distributed from "edgegrad/distributed";

await eg.init({ threads: 1 });
const group = await distributed.initProcessGroup({ servers: "nats://127.0.0.1:4222", worldSize: 2 });
${code}
await group.destroy();
`;
const runs = (
  call,
) => `import { ${call.split("(")[0].split(" ").at(-1)} } from "edgegrad/federated";

${call}
`;
const kServer = 'servers: "nats://127.0.0.1:4222"';
const from = (name, code) => `import * as eg from "edgegrad";
import { ${name} } from "edgegrad/transformers";

await eg.init();
${code}
`;

/** Programs that need what no test here has: a server, a GPU, a page or a model from the web. They are not run. */
export const kElsewhere = {
  deviceLost: `import * as eg from "edgegrad";

await eg.init({ webgpu: "required" });
const reason = await eg.deviceLost(); // when the browser or a driver has closed the device
console.log(reason);
`,
  webgpuStats: `import * as eg from "edgegrad";

await eg.init({ webgpu: "required" });
eg.randn([512, 512], { device: "webgpu" }).square().sum().item();
console.log(eg.webgpuStats().submits);
`,
  "edgegrad/distributed.ProcessGroup": group("console.log(group.rank, group.worldSize);"),
  "edgegrad/distributed.allGather": group(
    "const all = await distributed.allGather(eg.tensor([group.rank]));\nconsole.log(all.map(String)); // the tensors of both processes",
  ),
  "edgegrad/distributed.allReduce": group(
    "const sum = eg.tensor([group.rank + 1]);\nawait distributed.allReduce(sum);\nconsole.log(String(sum)); // 1 + 2 in both processes",
  ),
  "edgegrad/distributed.barrier": group("await distributed.barrier(); // until both are here"),
  "edgegrad/distributed.broadcast": group(
    "const weights = eg.rand([3]);\nawait distributed.broadcast(weights, 0); // those of the process with rank 0",
  ),
  "edgegrad/distributed.reduceScatter": group(
    "const part = await distributed.reduceScatter(eg.arange(4));\nconsole.log(String(part)); // half of the sum",
  ),
  "edgegrad/federated.listRuns": runs(`console.log(await listRuns({ ${kServer} }));`),
  "edgegrad/federated.deleteRun": runs(`await deleteRun({ ${kServer}, run: "digits" });`),
  "edgegrad/federated.pauseRun": runs(`await pauseRun({ ${kServer}, run: "digits" });`),
  "edgegrad/federated.resumeRun": runs(`await resumeRun({ ${kServer}, run: "digits" });`),
  "edgegrad/federated.stopRun": runs(`await stopRun({ ${kServer}, run: "digits" });`),
  "edgegrad/federated.rollBackRun": runs(
    `await rollBackRun({ ${kServer}, run: "digits", round: 12 });`,
  ),
  "edgegrad/federated.rollOutRun": runs(
    `await rollOutRun({ ${kServer}, run: "digits", revision: "v2", share: 0.1, config: { lr: 0.05 } });`,
  ),
  "edgegrad/federated.withdrawRollout": runs(
    `await withdrawRollout({ ${kServer}, run: "digits" });`,
  ),
  "edgegrad/transformers.Classifier": from(
    "AutoModelForSequenceClassification",
    'const model = await AutoModelForSequenceClassification.fromPretrained("https://example.com/models/sentiment/");\nconsole.log(model.constructor.name);',
  ),
  "edgegrad/transformers.MaskedLanguageModel": from(
    "AutoModelForMaskedLM",
    'const model = await AutoModelForMaskedLM.fromPretrained("https://example.com/models/bert/");\nconsole.log(model.constructor.name);',
  ),
  "edgegrad/transformers.Seq2SeqModel": from(
    "AutoModelForSeq2SeqLM",
    'const model = await AutoModelForSeq2SeqLM.fromPretrained("https://example.com/models/t5/");\nconsole.log(model.constructor.name);',
  ),
  "edgegrad/transformers.ClipModel": from(
    "AutoModel",
    'const model = await AutoModel.fromPretrained("https://example.com/models/clip/");\nconsole.log(model.constructor.name);',
  ),
  "edgegrad/transformers.WhisperFeatureExtractor": from(
    "AutoFeatureExtractor",
    'const extractor = await AutoFeatureExtractor.fromPretrained("https://example.com/models/whisper/");\nconsole.log(extractor.constructor.name);',
  ),
  "edgegrad/transformers.PreTrainedTokenizer": from(
    "AutoTokenizer",
    'const tokenizer = await AutoTokenizer.fromPretrained("https://example.com/models/gpt2/");\nconsole.log(tokenizer.encode("Call me Ishmael."));',
  ),
  "edgegrad/transformers.TextStreamer": from(
    "AutoTokenizer, TextStreamer",
    'const tokenizer = await AutoTokenizer.fromPretrained("https://example.com/models/gpt2/");\nconst streamer = new TextStreamer(tokenizer, (text) => console.log(text));',
  ),
  "edgegrad/vis.defineElements": `import { defineElements } from "edgegrad/vis";

await defineElements(); // in a page; from now on <eg-line-chart> and the others show something
`,
};
