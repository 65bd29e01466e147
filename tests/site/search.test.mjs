// What the search of the docs answers to what people type: names of ours and of other libraries, words, messages and questions. The function
// that ranks results runs here as in the pages, with the index that the build has written.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { inflateSync } from "node:zlib";
import { ranked } from "../../scripts/reference/search_ranking.mjs";
import { kRoot } from "../js/support/files.mjs";
import { kSite, noSite } from "./support/pages.mjs";

const kAnswers = [
  // Names of ours, of PyTorch and of TensorFlow.js.
  ["crossEntropy", "functions/crossEntropy"],
  ["cross_entropy", "functions/crossEntropy"],
  ["relu", "functions/relu"],
  ["F.relu", "functions/relu"],
  ["nn.CrossEntropyLoss", "classes/nn.CrossEntropyLoss"],
  ["Adam", "classes/optim.Adam"],
  ["clip_grad_norm_", "functions/nn.utils.clipGradNorm_"],
  ["detach", "functions/detach"],
  ["no_grad", "functions/noGrad"],
  ["retain_graph", "documents/Autograd"],
  ["requires_grad", "documents/Autograd"],
  ["state_dict", "documents/Saving_and_loading"],
  ["torch.save", "functions/io.save"],
  ["tf.tidy", "functions/scope"],
  ["tf.loadLayersModel", "documents/Coming_from_TensorFlow.js"],
  ["quantize", "functions/quantize"],
  ["lora", "classes/edgegrad_peft.LoraConfig"],
  ["int8", "variables/int8"],
  ["torch.cat", "functions/cat"],
  ["concatenate", "functions/cat"],
  ["torch.utils.data.DataLoader", "classes/data.DataLoader"],
  ["tf.layers.dense", "classes/nn.Linear"],
  ["tf.browser.fromPixels", "documents/Coming_from_TensorFlow.js"],
  ["model.eval()", "documents/The_training_loop"],
  ["BatchNormalization", "classes/nn.BatchNorm1d"],
  ["adam lr", "classes/optim.Adam"],
  // Slips of the finger.
  ["sofmax", "functions/softmax"],
  ["softmaxx", "functions/softmax"],
  ["optimzer", "classes/optim.Optimizer"],
  ["embeding", "classes/nn.Embedding"],
  // British, in two parts: our own words are American.
  [`optim${"iser"}`, "classes/optim.Optimizer"],
  ["drop out", "functions/dropout"],
  ["cross entrophy", "functions/crossEntropy"],
  ["learnig rate", "documents/Optimizers_and_schedulers_of_your_own"],
  // Words and questions.
  ["what is a tensor", "documents/Tensors"],
  ["how do i train a neural network", "documents/Tutorial__a_first_model"],
  ["linear layer", "classes/nn.Linear"],
  ["convolution", "classes/nn.Conv2d"],
  ["conv2d padding same", "classes/nn.Conv2d"],
  ["attention is all you need transformer", "classes/nn.Transformer"],
  ["cosine schedule", "classes/optim.lrScheduler.CosineAnnealingWarmRestarts"],
  ["split data into train and validation", "documents/The_training_loop"],
  ["train across several browsers", "documents/Federated_training"],
  ["run a hugging face model", "documents/Weights__PyTorch_and_safetensors_files"],
  ["loss does not go down", "documents/The_training_loop"],
  ["import in html without npm", "documents/Install"],
  ["getting started", "documents/Tutorial__a_first_model"],
  ["Tutorial: images", "documents/Tutorial__images"],
  ["how do I stop gradients", "documents/Autograd"],
  ["backpropagation", "documents/Autograd"],
  ["freeze layers", "documents/Layers_and_models"],
  ["custom layer", "documents/Layers_and_models"],
  ["early stopping", "documents/The_training_loop"],
  ["overfit", "documents/The_training_loop"],
  ["confusion matrix", "functions/edgegrad_vis.confusionMatrix"],
  ["confusion matrix", "classes/edgegrad_metrics.ConfusionMatrix"],
  ["learning rate", "documents/The_training_loop"],
  ["learning rate schedule", "documents/Optimizers_and_schedulers_of_your_own"],
  ["gradient clipping", "documents/The_training_loop"],
  ["batch norm eval mode", "documents/The_training_loop"],
  ["weight decay", "documents/The_training_loop"],
  ["why is my loss nan", "documents/Debugging_NaN"],
  ["reproducible seed", "documents/Tensors"],
  ["save model", "documents/Saving_and_loading"],
  ["load pytorch model", "documents/Weights__PyTorch_and_safetensors_files"],
  ["export onnx", "documents/ONNX_export"],
  ["dataloader csv", "documents/Recipes"],
  ["csv", "documents/Recipes"],
  ["webcam", "documents/Recipes"],
  ["train in a worker", "documents/Recipes"],
  ["visualize", "documents/Charts"],
  ["react", "documents/React,_Vue_and_other_frameworks"],
  ["mixed precision", "documents/The_training_loop"],
  // What people do in PyTorch and TensorFlow.js, in their words.
  ["concatenate tensors", "functions/cat"],
  ["stop computing gradients", "functions/noGrad"],
  ["turn tensor into javascript array", "documents/Tensors"],
  ["split data into train and test", "functions/data.randomSplit"],
  ["batch size", "classes/data.DataLoader"],
  ["count parameters of model", "documents/Layers_and_models"],
  ["one hot encoding", "functions/oneHot"],
  ["argmax of predictions", "functions/argmax"],
  ["tf.data.csv", "documents/Recipes"],
  ["tf.model.fit", "documents/The_training_loop"],
  ["tf.sequential", "classes/nn.Sequential"],
  ["save model to disk", "documents/Saving_and_loading"],
  ["load huggingface model", "documents/Weights__PyTorch_and_safetensors_files"],
  ["gpu support", "documents/WebGPU"],
  ["exploding gradients", "functions/nn.utils.clipGradNorm_"],
  ["exploding gradients", "documents/Debugging_NaN"],
  ["mean squared error", "classes/nn.MSELoss"],
  ["padding sequences", "functions/nn.utils.rnn.padSequence"],
  ["torch.no_grad", "functions/noGrad"],
  ["xavier init", "functions/nn.init.xavierUniform_"],
  ["reduce on plateau", "classes/optim.lrScheduler.ReduceLROnPlateau"],
  ["convert numpy array", "documents/Weights__PyTorch_and_safetensors_files"],
  // What goes wrong.
  ["out of memory", "documents/Memory"],
  ["memory leak", "documents/Memory"],
  ["dispose tensors", "documents/Memory"],
  ["slow", "documents/Performance"],
  ["gpu is slow", "documents/WebGPU"],
  ["webgpu not available", "documents/WebGPU"],
  ["headers", "documents/Threads"],
  ["cors headers", "documents/Threads"],
  ["SharedArrayBuffer is not defined", "documents/Threads"],
  ["service worker", "documents/Threads"],
  ["mobile safari", "documents/Deploying"],
  ["Module not found", "documents/Install"],
  ["shape mismatch", "documents/Troubleshooting"],
];

describe("the search of the docs", { skip: noSite }, () => {
  let index;
  let rows;
  before(() => {
    const script = readFileSync(join(kSite, "docs", "assets", "search.js"), "utf8");
    const packed = Buffer.from(/"([^"]+)"/.exec(script)[1], "base64");
    const read = JSON.parse(inflateSync(packed));
    rows = read.rows;
    // typedoc's own, which the page's script contains.
    const require = createRequire(join(kRoot, "scripts/reference/node_modules/typedoc/"));
    index = require("lunr").Index.load(read.index);
  });

  const answersTo = (typed) =>
    ranked(typed, index, rows).map(({ ref }) => rows[Number(ref)].url.replace(".html", ""));

  for (const [typed, page] of kAnswers) {
    test(`answers "${typed}" with ${page} among the first three`, () => {
      const first = answersTo(typed).slice(0, 3);
      assert.ok(first.includes(page), first.join(", "));
    });
  }

  test("takes signs of the index's language as text", () => {
    for (const typed of ["a:b", "~", "relu^2", "+x -y", "*", "how?", "nn.", '"'])
      assert.ok(Array.isArray(answersTo(typed)), typed);
  });
});
