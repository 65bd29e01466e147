// eg.func.replaceAllBatchNormModules_(): batch normalization inside vmap(), which cannot change running statistics that samples share.

import { readNothing } from "../arguments/read.js";
import { Module } from "../nn/module.js";
import { kDropRunningStats } from "../nn/norm/running_stats.js";
import { fail, refusal } from "../runtime/errors/errors.js";

type Droppable = Module & { [kDropRunningStats]?: () => void };

/**
 * Lets all layers of batch normalization in `root` go without running statistics, also in evaluation, and returns `root`: they then work inside
 * vmap().
 */
export function replaceAllBatchNormModules_<M extends Module>(root: M, ...rest: []): M {
  const where = "replaceAllBatchNormModules_";
  readNothing(where, rest);
  if (!(root instanceof Module)) {
    fail("InvalidArgument", where, refusal("root", "an nn.Module", root));
  }
  for (const module of root.modules() as Iterable<Droppable>) module[kDropRunningStats]?.();
  return root;
}
