// The names of tensors in files and in models.

import type * as eg from "edgegrad";

/** A tensor of a file that is computed instead of read. */
export interface Omitted {
  readonly shape: readonly number[];
  readonly dtype: eg.DType;
}

/** The relation between the names in a model's files and those of its parameters. */
export interface FileNames {
  /** The names in the model by the names in the files. */
  readonly tensors: Readonly<Record<string, string>>;
  /** The tensors that were not read. */
  readonly omitted: Readonly<Record<string, Omitted>>;
  /** The metadata of the file. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** The names of a model that was not read from files. */
export const kNoFileNames: FileNames = { tensors: {}, omitted: {}, metadata: { format: "pt" } };

// Names that layers have in other files.
const kOldSpellings: readonly (readonly [RegExp, string])[] = [
  [/\bLayerNorm\.gamma$/, "LayerNorm.weight"],
  [/\bLayerNorm\.beta$/, "LayerNorm.bias"],
  // Newer files have these two under PyTorch's names of parametrizations.
  [/\bconv\.parametrizations\.weight\.original0$/, "conv.weight_g"],
  [/\bconv\.parametrizations\.weight\.original1$/, "conv.weight_v"],
  // The first models that read images contain a whole language model with its head.
  [/^language_model\.model\./, "model.language_model."],
  [/^language_model\.lm_head\./, "lm_head."],
];

/**
 * Returns the name that a tensor of a file has in a model, or null if it is not in the model. `prefix` is the name of the submodule that the models
 * of all tasks share, so that a model can read the files of another task.
 */
export function nameInModel(
  key: string,
  known: ReadonlySet<string>,
  prefix: string,
): string | null {
  const current = kOldSpellings.reduce((name, [old, now]) => name.replace(old, now), key);
  const within = `${prefix}.`;
  const candidates = [current, within + current];
  if (current.startsWith(within)) candidates.push(current.slice(within.length));
  return candidates.find((name) => known.has(name)) ?? null;
}

/** Returns the names of the parameters that share the one of a name. */
export function tiedTo(tied: Readonly<Record<string, string>>, name: string): string[] {
  return Object.keys(tied).filter((key) => tied[key] === name);
}
