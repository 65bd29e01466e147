// PyTorch's names of functions and classes.

import { kCompositeCalls } from "../../tests/js/support/composite_calls.mjs";

// Namespaces that PyTorch has, and where.
const kPlaces = {
  "nn.functional": "torch.nn.functional",
  nn: "torch.nn",
  optim: "torch.optim",
  "optim.lrScheduler": "torch.optim.lr_scheduler",
  "optim.swaUtils": "torch.optim.swa_utils",
  distributions: "torch.distributions",
  "distributions.constraints": "torch.distributions.constraints",
  linalg: "torch.linalg",
  fft: "torch.fft",
  special: "torch.special",
  func: "torch.func",
  autograd: "torch.autograd",
  "autograd.functional": "torch.autograd.functional",
  "autograd.forwardAd": "torch.autograd.forward_ad",
  "autograd.graph": "torch.autograd.graph",
  "nn.init": "torch.nn.init",
  "nn.utils": "torch.nn.utils",
  "nn.utils.rnn": "torch.nn.utils.rnn",
  "nn.utils.prune": "torch.nn.utils.prune",
  "nn.utils.parametrize": "torch.nn.utils.parametrize",
  "nn.utils.parametrizations": "torch.nn.utils.parametrizations",
  "nn.grad": "torch.nn.grad",
  "signal.windows": "torch.signal.windows",
  data: "torch.utils.data",
  masked: "torch.masked",
  testing: "torch.testing",
  amp: "torch.amp",
  random: "torch.random",
  sparse: "torch.sparse",
};

// Ours alone.
const kOwn = new Set(
  "data.idx testing.tensorsAreEqual func.interceptOps autograd.backwardAsync autograd.gradAsync autograd.toDot".split(
    " ",
  ),
);

const kWithDigits = { atleast1d: "atleast_1d", atleast2d: "atleast_2d", atleast3d: "atleast_3d" };

// Where PyTorch has these elsewhere.
const kElsewhere = {
  ...Object.fromEntries(
    (
      "allclose autocast broadcastShapes enableGrad equal finfo iinfo getDefaultDtype inferenceMode isGradEnabled " +
      "isInferenceModeEnabled noGrad randintLike setDefaultDtype setGradEnabled setWarnAlways sparseCooTensor sparseCsrTensor tensor"
    )
      .split(" ")
      .map((name) => [name, `torch.${snakeCase(name)}`]),
  ),
  ...Object.fromEntries(
    "cauchy_ copy_ exponential_ fillDiagonal_ fill_ geometric_ logNormal_ random_ uniform_ zero_"
      .split(" ")
      .map((name) => [name, `torch.Tensor.${snakeCase(name)}`]),
  ),
  ctcLoss: "torch.nn.functional.ctc_loss",
  tripletMarginWithDistanceLoss: "torch.nn.functional.triplet_margin_with_distance_loss",
  "autograd.graph.queueCallback": "Variable._execution_engine.queue_callback",
  "autograd.graph.unsafePreserveVersionCounter": "torch.autograd._unsafe_preserve_version_counter",
  "autograd.profile": "torch.autograd.profiler.profile",
  "nn.init.fans": "torch.nn.init._calculate_fan_in_and_fan_out",
  "io.load": "torch.load",
  "io.save": "torch.save",
  "io.loadTorch": "torch.load",
  "io.saveTorch": "torch.save",
  "io.loadSafetensors": "safetensors.torch.load_file",
  "io.saveSafetensors": "safetensors.torch.save_file",
  "io.openSafetensors": "safetensors.safe_open",
  "io.readSafetensorsMetadata": "safetensors.safe_open().metadata()",
  memory: "torch.cuda.memory_stats",
  spawn: "torch.multiprocessing.spawn",
  slice: "slice()",
  Slice: "slice",
  "edgegrad/distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
  "edgegrad/distributed.DistributedSampler": "torch.utils.data.distributed.DistributedSampler",
  "edgegrad/distributed.broadcastObject": "torch.distributed.broadcast_object_list",
  "edgegrad/onnx.save": "torch.onnx.export",
  "edgegrad/vis.SummaryWriter": "torch.utils.tensorboard.SummaryWriter",
  "edgegrad/vis.profileStep": "torch.profiler.profile",
  "edgegrad/vis.summary": "torchinfo.summary",
  "edgegrad/metrics.accuracy": "torchmetrics.Accuracy",
  "edgegrad/metrics.ConfusionMatrix": "torchmetrics.ConfusionMatrix",
  "edgegrad/metrics.perplexity": "torchmetrics.text.Perplexity",
  "edgegrad/metrics.r2Score": "torchmetrics.R2Score",
  "edgegrad/metrics.rocAuc": "torchmetrics.AUROC",
  "autograd.FunctionContext": "torch.autograd.function.FunctionCtx",
  "random.getState": "torch.get_rng_state",
  "random.setState": "torch.set_rng_state",
};

/** Returns PyTorch's name for a name of the package; null if it has none. */
export function pytorchName(name, op, isClass) {
  if (kOwn.has(name)) return null;
  if (Object.hasOwn(kElsewhere, name)) return kElsewhere[name];
  if (name.startsWith("edgegrad/")) return ofPythonPackage(name);
  const at = name.lastIndexOf(".");
  const own = at < 0 ? name : name.slice(at + 1);
  const theirs = isClass ? own : snakeCase(own);
  if (/^autograd\..*[cC]heckpoint/.test(name)) return `torch.utils.checkpoint.${theirs}`;
  if (/^optim\.register/.test(name)) return `torch.optim.optimizer.${theirs}`;
  if (at >= 0) {
    const place = kPlaces[name.slice(0, at)];
    return place === undefined ? null : `${place}.${theirs}`;
  }
  if (Object.hasOwn(kRenamed, own)) return kRenamed[own];
  if (kHomes.has(own)) return `${kHomes.get(own)}.${theirs}`;
  if (isClass) return own === "Tensor" || own === "Generator" ? `torch.${own}` : null;
  if (own.endsWith("_")) return op === undefined ? null : `torch.Tensor.${theirs}`;
  if (op !== undefined && kInFunctional.has(op.family)) return `torch.nn.functional.${theirs}`;
  return op !== undefined || own in kCompositeCalls ? `torch.${theirs}` : null;
}

// Add-ons with the names of a package for Python.
const kPackages = { distributed: "torch.distributed", peft: "peft", transformers: "transformers" };
const kOnlyHere =
  /Error$|^(Classifier|CausalLanguageModel|MaskedLanguageModel|Seq2SeqModel|ClipModel|KeyValueCache|answerExample|dpoLoss|fit|loadDataset|packExamples|supportedModels|DataCollatorForPreference)$/;

function ofPythonPackage(name) {
  const [, addon, own] = /^edgegrad\/(\w+)\.(\w+)$/.exec(name);
  if (!Object.hasOwn(kPackages, addon) || kOnlyHere.test(own)) return null;
  return `${kPackages[addon]}.${/^[A-Z]/.test(own) ? own : snakeCase(own)}`;
}

// Functions of the root that PyTorch has elsewhere, by the place.
const kHomes = new Map(
  Object.entries({
    "torch.linalg":
      "cond eig eigh eigvals eigvalsh householderProduct lstsq lu luFactor matrixNorm matrixRank multiDot pinv solve solveTriangular " +
      "svdvals tensorinv tensorsolve vecdot vectorNorm",
    "torch.fft":
      "fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn",
    "torch.special": "entr erfcx gammainc gammaincc i0e i1 i1e logNdtr ndtr ndtri xlog1py zeta",
    "torch.nn.functional":
      "adaptiveAvgPool1d adaptiveAvgPool3d adaptiveMaxPool1d adaptiveMaxPool3d affineGrid avgPool3d bilinear ctcLoss dropout embedding " +
      "embeddingBag gridSample interpolate linear localResponseNorm lpPool1d lpPool2d lpPool3d maxPool3d maxUnpool1d maxUnpool2d " +
      "maxUnpool3d oneHot pixelShuffle pixelUnshuffle softmin",
    "torch.Tensor":
      "contiguous expand expandAs repeat sumToSize unfold view viewAs maskedScatter_ indexPut_",
  }).flatMap(([place, names]) => names.split(" ").map((name) => [name, place])),
);

// Those that PyTorch names otherwise, and ops of ours alone.
const kRenamed = {
  im2col: "torch.nn.functional.unfold",
  col2im: "torch.nn.functional.fold",
  quantize: null,
  dequantize: null,
  quantizedLinear: null,
};

// The families whose functions PyTorch has in nn.functional.
const kInFunctional = new Set([
  "Activations",
  "Losses",
  "Normalization",
  "Images",
  "Attention",
  "Distances",
]);

function snakeCase(name) {
  return kWithDigits[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
