// Evaluation mode while texts are generated, also several at once.

import type * as eg from "edgegrad";

const kHeld = new WeakMap<eg.nn.Module, { count: number; readonly training: boolean }>();

/** Puts a model into evaluation mode until the returned function is called by all that hold it; then modules have their own modes again. */
export function holdEvalMode(model: eg.nn.Module): () => void {
  const modules = model.modules();
  for (const module of modules) {
    const hold = kHeld.get(module) ?? { count: 0, training: module.training };
    hold.count++;
    kHeld.set(module, hold);
  }
  model.eval();
  return () => {
    for (const module of modules) {
      const hold = kHeld.get(module);
      if (hold === undefined || --hold.count > 0) continue;
      module.training = hold.training;
      kHeld.delete(module);
    }
  };
}
