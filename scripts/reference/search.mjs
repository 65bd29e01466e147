// What the search of the reference finds besides names and texts: names that other libraries use, and the words that people type.

import { readFileSync } from "node:fs";
import { join } from "node:path";

// Words for pages of the guide, by their titles.
const kTopics = {
  Threads: "headers isolation cross-origin SharedArrayBuffer workers parallel",
  Deploying: "headers nginx compression CSP cache hosting CDN bundle",
  "The training loop":
    "early stopping overfit overfitting learning rate epochs batches validation accuracy metrics backpropagation",
  "Optimizers and schedulers of your own": "learning rate schedule warmup",
  Autograd: "backpropagation gradient derivative differentiation tape",
  "Hooks and custom functions": "backpropagation custom gradient straight-through",
  "Debugging NaN": "nan infinity exploding vanishing gradients",
  Performance: "slow fast speed benchmark capture compile",
  Memory: "memory leak out of memory dispose tidy garbage",
  "Saving and loading": "checkpoint save load state_dict pickle",
  Recipes: "csv camera webcam react worker indexeddb cdn script tag augmentation how to",
  "Tutorial: a first model": "getting started beginner hello world quickstart",
  "Tutorial: images": "image classifier cnn",
  "Tutorial: a time series": "forecast lstm gru rnn",
  "Tutorial: text": "sentiment nlp words embedding",
  Troubleshooting: "errors problems slow memory",
  "Coming from PyTorch": "torch migration cheat sheet",
  "Coming from TensorFlow.js": "tf tfjs migration cheat sheet",
};

const kWeights = { aliases: 8 };

// Where PyTorch has the functions that are in the root here.
const kPlaces = ["torch", "F", "torch.nn.functional", "nn.functional"];

/** Adds fields to the index, and leaves out what a class inherits: it is found at its base. */
export function prepareSearch(event, guide) {
  const { searchResults, searchFields, searchFieldWeights } = event;
  for (let i = searchResults.length - 1; i >= 0; i--)
    if (searchResults[i].inheritedFrom) event.removeResult(i);
  Object.assign(searchFieldWeights, kWeights);
  const others = namesElsewhere(guide);
  searchResults.forEach((result, i) => {
    const aliases = result.isDocument() ? kTopics[result.name] : aliasesOf(result, others);
    searchFields[i] = { aliases: aliases ?? "" };
  });
}

function aliasesOf(reflection, others) {
  const path = reflection.getFullName().replace(/^edgegrad_\w+\./, "");
  const snake = snakeCase(path);
  const isInRoot = !path.includes(".");
  const places = isInRoot ? kPlaces.map((place) => `${place}.${snake}`) : [`torch.${snake}`];
  return [snakeCase(reflection.name), snake, ...places, ...(others.get(path) ?? [])].join(" ");
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
