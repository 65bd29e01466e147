// Small programs for everything that is not an op: layers, optimizers, autograd, data, files. `$0`, `$1` are the
// results of a recipe's earlier lines. Each line works unmodified, or begins with "!" and must be rejected. The fuzzer
// replaces parts of it.

import { kAutograd } from "./autograd.mjs";
import { kData } from "./data.mjs";
import { kDistributions, kMoreDistributions } from "./distributions.mjs";
import { kDrawing, kLayers, kPlainLayers } from "./layers.mjs";
import { kLosses } from "./losses.mjs";
import { kModules } from "./modules.mjs";
import { kSparse } from "./sparse.mjs";
import { kIndexing } from "./tensors.mjs";
import { kAveraging, kLbfgs, kOptimizerHooks, kOptimizers, kSchedulers } from "./training.mjs";

/** All recipes: lists of lines. */
export const kRecipes = [
  kLayers,
  kPlainLayers,
  kDrawing,
  kLosses,
  kModules,
  kOptimizers,
  kLbfgs,
  kOptimizerHooks,
  kSchedulers,
  kAveraging,
  kAutograd,
  kIndexing,
  kSparse,
  kData,
  kDistributions,
  kMoreDistributions,
].flat();
