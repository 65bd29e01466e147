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
  (
    "data.idx testing.tensorsAreEqual func.interceptOps nn.init.fans autograd.backwardAsync autograd.gradAsync autograd.profile " +
    "autograd.toDot autograd.graph.queueCallback autograd.graph.unsafePreserveVersionCounter"
  ).split(" "),
);

// Where PyTorch has these elsewhere.
const kElsewhere = {
  "autograd.FunctionContext": "torch.autograd.function.FunctionCtx",
  "random.getState": "torch.get_rng_state",
  "random.setState": "torch.set_rng_state",
};

/** Returns PyTorch's name for a name of the package; null if it has none. */
export function pytorchName(name, op, isClass) {
  if (kOwn.has(name) || name.startsWith("edgegrad/")) return null;
  const at = name.lastIndexOf(".");
  const own = at < 0 ? name : name.slice(at + 1);
  const theirs = isClass ? own : snakeCase(own);
  if (/^autograd\..*[cC]heckpoint/.test(name)) return `torch.utils.checkpoint.${theirs}`;
  if (/^optim\.register/.test(name)) return `torch.optim.optimizer.${theirs}`;
  if (name in kElsewhere) return kElsewhere[name];
  if (at >= 0) {
    const place = kPlaces[name.slice(0, at)];
    return place === undefined ? null : `${place}.${theirs}`;
  }
  if (isClass) return own === "Tensor" || own === "Generator" ? `torch.${own}` : null;
  if (own.endsWith("_")) return op === undefined ? null : `torch.Tensor.${theirs}`;
  if (op !== undefined && kInFunctional.has(op.family)) return `torch.nn.functional.${theirs}`;
  return op !== undefined || own in kCompositeCalls ? `torch.${theirs}` : null;
}

// The families whose functions PyTorch has in nn.functional.
const kInFunctional = new Set([
  "Activations",
  "Losses",
  "Normalization",
  "Images",
  "Attention",
  "Distances",
]);

const kWithDigits = { atleast1d: "atleast_1d", atleast2d: "atleast_2d", atleast3d: "atleast_3d" };

function snakeCase(name) {
  return kWithDigits[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
