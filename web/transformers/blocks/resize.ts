// Changes the number of tokens of a model, for tokens that are added to its vocabulary.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { Embedding, Linear } from "./linear.js";

const kWhere = "resizeTokenEmbeddings";

// The layers that compute a score for each token, by their names in files.
const kHeads = /(?:^|\.)(?:lm_head|embed_out|proj_out|decoder|vocab_projector)$/;

/** Gives the table of words, and the head that has one row for each of them, `count` rows; new rows are the mean of the old ones. */
export function resizeWords(model: eg.nn.Module, words: number, count: number): void {
  const layers = model.namedModules();
  const tables = layers.flatMap(([, layer]) =>
    layer instanceof Embedding && layer.numEmbeddings === words ? [layer] : [],
  );
  const [table] = tables;
  if (table === undefined) {
    const message = `the model has no table of ${words} words whose weights are numbers.`;
    fail("InvalidArgument", kWhere, message);
  }
  const heads = layers.flatMap(([name, layer]) =>
    layer instanceof Linear && kHeads.test(name) && layer.outFeatures === words ? [layer] : [],
  );
  const old = new Set(
    [table.weight, ...heads.flatMap(({ weight, bias }) => [weight, bias ?? []])].flat(),
  );
  for (const parameter of old) replace(model, parameter, resized(parameter, count));
  for (const table of tables) Object.assign(table, { numEmbeddings: count });
  for (const head of heads) Object.assign(head, { outFeatures: count });
}

function resized(old: eg.nn.Parameter, count: number): eg.nn.Parameter {
  const values = eg.noGrad(() =>
    eg.scope(() => {
      const [words, ...rest] = old.shape as [number, ...number[]];
      const kept = old.narrow(0, 0, Math.min(words, count));
      if (count <= words) return eg.keep(kept.clone());
      const mean = old.float().mean(0, true).to(old.dtype);
      return eg.keep(eg.cat([kept, mean.expand([count - words, ...rest])], 0));
    }),
  );
  const made = new eg.nn.Parameter(values);
  made.requiresGrad = old.requiresGrad;
  return made;
}

// A tied parameter is a property of several modules.
function replace(model: eg.nn.Module, old: eg.nn.Parameter, now: eg.nn.Parameter): void {
  for (const module of model.modules()) {
    for (const [name, value] of Object.entries(module)) {
      if (value === old) Object.assign(module, { [name]: now });
    }
  }
}
