// All ops by their domains.

import { normalDomain } from "../header.js";
import { kActivations } from "./activations.js";
import { kArithmetic } from "./arithmetic.js";
import { kAttentionOps } from "./attention.js";
import { kControl } from "./control.js";
import { kConvolutions } from "./convolutions.js";
import { kCreation } from "./creation.js";
import { kDropout } from "./dropout.js";
import { kFunctions } from "./functions.js";
import { kIndexing } from "./indexing.js";
import { kLayout } from "./layout.js";
import { kLosses } from "./losses.js";
import { kNormalization } from "./normalization.js";
import type { Op, Ops } from "./op.js";
import { kPadding } from "./padding.js";
import { kPooling } from "./pooling.js";
import { kProducts } from "./products.js";
import { kQuantization } from "./quantization.js";
import { kRecurrentOps } from "./recurrent.js";
import { kReductions } from "./reductions.js";
import { kResizing } from "./resize.js";
import { kSequences } from "./sequences.js";

/** A set of ops: its newest known version, and the ops by name. */
interface Domain {
  readonly newest: number;
  readonly ops: Ops;
}

/** ONNX's own domain, without ops that few models have. */
export const kOwn: Domain = {
  newest: 26,
  ops: {
    ...kActivations,
    ...kArithmetic,
    ...kAttentionOps,
    ...kControl,
    ...kConvolutions,
    ...kCreation,
    ...kDropout,
    ...kFunctions,
    ...kIndexing,
    ...kLayout,
    ...kLosses,
    ...kNormalization,
    ...kPadding,
    ...kPooling,
    ...kProducts,
    ...kQuantization,
    ...kRecurrentOps,
    ...kReductions,
    ...kResizing,
    ...kSequences,
  },
};

/** Other domains; their ops are loaded for the first model that imports them. */
const kOthers: Readonly<Record<string, () => Promise<Domain>>> = {
  "com.microsoft": async () => ({
    newest: 1,
    ops: (await import("./microsoft/index.js")).kMicrosoft,
  }),
  "ai.onnx.ml": async () => ({ newest: 5, ops: (await import("./ml/index.js")).kMl }),
  "ai.onnx.preview.training": async () => ({
    newest: 1,
    ops: (await import("./training.js")).kTraining,
  }),
};

/** Domains by name. */
export type Domains = ReadonlyMap<string, Domain>;

/** An op as nodes name it. */
interface Named {
  readonly domain?: string | undefined;
  readonly opType?: string | undefined;
}

/**
 * Returns the known ones among these domains, with at least the ops that these nodes need. Some files have nodes of domains that they
 * do not import.
 */
export async function loadDomains(
  imports: Iterable<string>,
  nodes: Iterable<Named>,
): Promise<Domains> {
  const names = new Set([...imports].map(normalDomain));
  let own = kOwn;
  for (const { domain, opType = "" } of nodes) {
    const name = normalDomain(domain);
    names.add(name);
    if (name === "" && own === kOwn && !Object.hasOwn(kOwn.ops, opType)) own = await wholeDomain();
  }
  const found = new Map([["", own]]);
  for (const name of names) {
    if (!Object.hasOwn(kOthers, name)) continue;
    found.set(name, await (kOthers[name] as () => Promise<Domain>)());
  }
  return found;
}

async function wholeDomain(): Promise<Domain> {
  const { kRareOps } = await import("./rare/index.js");
  return { ...kOwn, ops: { ...kOwn.ops, ...kRareOps } };
}

/** Returns an op of a version of a domain; undefined if there is none. */
export function findOp(domain: Domain | undefined, name: string, version: number): Op | undefined {
  const ops = domain?.ops ?? {};
  const found = Object.hasOwn(ops, name) ? ops[name] : undefined;
  if (found === undefined) return undefined;
  const { since = 1, until = Number.POSITIVE_INFINITY } = found;
  return version >= since && version <= until ? found : undefined;
}

/** An op that models may have. */
export interface SupportedOp {
  /** The set of ops that it belongs to; "ai.onnx" is ONNX's own. */
  readonly domain: string;
  /** Its name in files. */
  readonly name: string;
  /** The first version of the domain that has it. */
  readonly since: number;
}

/** Returns the ops that models may have, by domain and name. */
export async function supportedOps(): Promise<SupportedOp[]> {
  const unknown = { opType: "" }; // for which all ops are loaded
  const domains = await loadDomains(Object.keys(kOthers), [unknown]);
  return [...domains].flatMap(([domain, { ops }]) =>
    Object.entries(ops)
      .map(([name, { since = 1 }]) => ({ domain: domain || "ai.onnx", name, since }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
}
