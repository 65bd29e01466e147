// What tensors are called in files, and in models.

import type * as eg from "edgegrad";

/** A tensor that a file has and the model computes instead. */
export interface Omitted {
  readonly shape: readonly number[];
  readonly dtype: eg.DType;
}

/** How the names of a model's files relate to those of its parameters. */
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

// Names that layers had in older files.
const kOldSpellings: readonly (readonly [RegExp, string])[] = [
  [/\bLayerNorm\.gamma$/, "LayerNorm.weight"],
  [/\bLayerNorm\.beta$/, "LayerNorm.bias"],
];

/**
 * Returns the name in a model of a tensor in a file, or null if the model has none. `prefix` is the name of the part that models of several tasks
 * share: files of one task can be read by another.
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
