// What the search of the reference finds besides names and texts: names that other libraries use, and the words that people type.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ReflectionKind } from "typedoc";
import { pytorchName } from "./pytorch_names.mjs";
import { kOps } from "./sources.mjs";

// Words for pages of the guide, by their titles.
const kTopics = {
  Install:
    "npm import bundler vite webpack cdn script tag node.js module not found require commonjs",
  Threads:
    "cors headers isolation cross-origin COOP COEP SharedArrayBuffer is not defined service worker web worker parallel multithreading",
  Deploying:
    "cors headers nginx compression CSP cache hosting CDN bundle size production github pages mobile safari iphone android",
  "The training loop":
    "train neural network gradient accumulation model.eval model.train model fit predict loss does not go down early stopping overfit overfitting regularization learning rate schedule scheduler epochs batches batch size validation accuracy " +
    "metrics confusion matrix backpropagation train eval mode batch norm gradient clipping weight decay dropout mixed precision autocast fit",
  "Optimizers and schedulers of your own": "custom optimizer learning rate schedule warmup",
  Autograd:
    "backpropagation gradient derivative differentiation tape retain_graph requires_grad detach stop gradients no_grad freeze",
  "Hooks and custom functions": "backpropagation custom gradient straight-through stop gradients",
  "Layers and models":
    "custom layer freeze layers count number of parameters size requires_grad nn.Module sequential weights initialization",
  "Debugging NaN": "nan infinity exploding vanishing gradients anomaly loss",
  Performance: "slow fast speed benchmark capture compile gpu is slow profile",
  WebGPU: "gpu gpus multiple gpus is slow not available graphics card device cuda",
  Memory: "memory leak out of memory dispose tensors tidy garbage",
  "Saving and loading":
    "checkpoint save model load model state_dict pickle safetensors resume download",
  "Weights: PyTorch and safetensors files":
    "load pytorch model pth pt checkpoint huggingface convert weights",
  "ONNX models": "load pytorch model quantize quantization int8 inference",
  "ONNX export": "convert model save onnx",
  Tensors:
    "shape mismatch broadcasting dtype reshape indexing slice seed reproducible turn into javascript array typed array numbers values print",
  Recipes:
    "csv dataloader camera webcam microphone react web worker train in a worker indexeddb cdn script tag augmentation how to",
  Charts: "visualize visualization plot graph confusion matrix loss curve dashboard",
  "Logging and TensorBoard": "visualize visualization log metrics csv wandb mlflow",
  "Fine-tune a language model": "lora qlora peft adapter llm gpt transformer quantize",
  "Tutorial: fine-tuning": "lora transfer learning pretrained freeze layers",
  "Tutorial: a first model":
    "train neural network getting started beginner hello world quickstart classifier",
  "Tutorial: images": "image classifier cnn conv2d overfit confusion matrix",
  "Tutorial: a time series": "forecast lstm gru rnn",
  "Tutorial: text": "sentiment nlp words embedding",
  "Tutorial: on the device": "personalize transfer learning webcam",
  "Personalizing on the device": "transfer learning freeze mobile",
  Troubleshooting: "errors problems slow memory shape mismatch module not found reproducible",
  Testing: "unit test tests mock jest vitest",
  TypeScript: "types editor autocomplete",
  "Coming from PyTorch": "torch migration cheat sheet cuda no_grad retain_graph",
  "Coming from TensorFlow.js": "tf tfjs migration cheat sheet load model",
};

const kWeights = { aliases: 8, summary: 2 };

// What people want of functions and classes whose names do not say it.
const kTasks = {
  argmax: "predicted class index largest",
  "data.DataLoader": "batch size minibatches shuffle",
  "data.randomSplit": "split train test validation set",
  fromImage: "canvas video camera pixels picture",
  inferenceMode: "inference prediction",
  manualSeed: "reproducible same numbers",
  noGrad: "stop disable computing gradients inference evaluation",
  "nn.utils.clipGradNorm_": "exploding gradients clipping limit",
  permute: "reorder swap axes dimensions",
  scope: "free memory dispose leak",
  squeeze: "remove dimension axis",
  topk: "largest best k",
  transpose: "swap axes dimensions",
  unsqueeze: "add dimension axis expand dims",
  where: "condition choose ternary",
};

// What short words of names stand for.
const kLongWords = {
  attn: "attention",
  avg: "average",
  bce: "binary cross entropy",
  bmm: "matrix multiplication",
  cat: "concatenate join",
  conv: "convolution",
  ctc: "connectionist temporal classification",
  det: "determinant",
  eig: "eigenvalue eigenvector",
  emb: "embedding",
  fft: "fourier transform",
  grad: "gradient",
  gru: "gated recurrent unit",
  init: "initialization",
  inv: "inverse",
  kl: "kullback leibler divergence",
  lr: "learning rate",
  lstm: "long short term memory recurrent",
  mae: "mean absolute error",
  matmul: "matrix multiplication",
  max: "maximum",
  min: "minimum",
  mm: "matrix multiplication",
  mse: "mean squared error",
  mul: "multiply multiplication",
  nll: "negative log likelihood",
  norm: "normalization",
  numel: "number count of elements",
  optim: "optimizer",
  pad: "padding",
  pool: "pooling",
  rand: "random",
  relu: "rectified linear unit",
  rnn: "recurrent",
  sgd: "stochastic gradient descent",
  std: "standard deviation",
  svd: "singular value decomposition",
  var: "variance",
};

// Where PyTorch has the functions that are in the root here.
const kPlaces = ["torch", "F", "torch.nn.functional", "nn.functional"];

/** Adds fields to the index, and leaves out what a class inherits: it is found at its base. */
export function prepareSearch(event, guide) {
  const { searchResults, searchFields, searchFieldWeights } = event;
  for (let i = searchResults.length - 1; i >= 0; i--)
    if (searchResults[i].inheritedFrom) event.removeResult(i);
  Object.assign(searchFieldWeights, kWeights);
  const others = namesElsewhere(guide);
  const otherNames = namesOfSame(event);
  searchResults.forEach((result, i) => {
    const aliases = result.isDocument()
      ? kTopics[result.name]
      : [aliasesOf(result, others), ...(otherNames.get(result) ?? [])].join(" ");
    searchFields[i] = { aliases: aliases ?? "", summary: firstSentence(result) };
  });
}

// Another name of a function leads to the function.
function namesOfSame(event) {
  const found = new Map();
  for (let i = event.searchResults.length - 1; i >= 0; i--) {
    const result = event.searchResults[i];
    if (!result.isReference?.()) continue;
    const target = result.getTargetReflectionDeep();
    found.set(target, [...(found.get(target) ?? []), result.name, snakeCase(result.name)]);
    event.removeResult(i);
  }
  return found;
}

// What functions and classes say of themselves. The texts of all comments would make the index several times as large.
function firstSentence(reflection) {
  if (!reflection.kindOf(ReflectionKind.Function | ReflectionKind.Class)) return "";
  const comment = reflection.signatures?.[0]?.comment ?? reflection.comment;
  const text = comment?.summary.map((part) => part.text).join("") ?? "";
  return text.split(/\.\s/)[0];
}

function aliasesOf(reflection, others) {
  const path = reflection.getFullName().replace(/^edgegrad_\w+\./, "");
  const snake = snakeCase(path);
  const isInRoot = !path.includes(".");
  const places = isInRoot ? kPlaces.map((place) => `${place}.${snake}`) : [`torch.${snake}`];
  const isClass = reflection.kindOf(ReflectionKind.Class);
  const isTop = reflection.kindOf(ReflectionKind.Class | ReflectionKind.Function);
  const torch = isTop ? pytorchName(path, kOps.get(path), isClass) : null;
  const names = [
    snakeCase(reflection.name),
    snake,
    ...places,
    ...(others.get(path) ?? []),
    torch,
    isTop ? kTasks[path] : null,
  ];
  const [, kind] = kKinds.find(([pattern]) => isClass && pattern.test(path)) ?? [];
  return [...new Set([...names, ...wordsOf(reflection.name), kind].filter(Boolean))].join(" ");
}

// What a class is, by its namespace or its name.
const kKinds = [
  [/^nn\.\w+Loss$/, "loss function"],
  [/^nn\.[A-Z]/, "layer"],
  [/^optim\.[A-Z]/, "optimizer"],
  [/^optim\.lrScheduler\.[A-Z]/, "learning rate scheduler schedule"],
  [/^distributions\.[A-Z]/, "distribution"],
];

// "confusion", "matrix" for confusionMatrix and ConfusionMatrix; "conv", "convolution" for conv2d.
function wordsOf(name) {
  const words = (name.match(/[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) =>
    word.toLowerCase(),
  );
  const long = words.map((word) => kLongWords[word]).filter(Boolean);
  return words.length > 1 ? [...words, ...long] : long;
}

// PyTorch's classes are called as ours, its functions in snake case.
function snakeCase(path) {
  return path
    .split(".")
    .map((name) =>
      /^[A-Z]/.test(name) ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    )
    .join(".");
}

// The tables of the guide's pages for people who come from other libraries: their names in the first column, ours in the second.
function namesElsewhere(guide) {
  const found = new Map();
  for (const page of ["coming_from_pytorch.md", "coming_from_tensorflow_js.md"]) {
    const rows = readFileSync(join(guide, page), "utf8").matchAll(/^\|([^|]*)\|([^|]*)\|/gm);
    for (const [, theirs, ours] of rows) {
      const names = [...theirs.matchAll(/\b(?:tf|torch)\.[\w.]+/g)].map(([name]) => name);
      for (const [, path] of ours.matchAll(/\beg\.([\w.]+)/g))
        found.set(path, [...(found.get(path) ?? []), ...names]);
    }
  }
  return found;
}
