// All ops by their domains.

import { kActivations } from "./activations.js";
import { kArithmetic } from "./arithmetic.js";
import { kControl } from "./control.js";
import { kConvolutions } from "./convolutions.js";
import { kCreation } from "./creation.js";
import { kDropout } from "./dropout.js";
import { kFunctions } from "./functions.js";
import { kIndexing } from "./indexing.js";
import { kLayout } from "./layout.js";
import { kNormalization } from "./normalization.js";
import type { Op, Ops } from "./op.js";
import { kPooling } from "./pooling.js";
import { kProducts } from "./products.js";
import { kRecurrentOps } from "./recurrent.js";
import { kReductions } from "./reductions.js";
import { kResizing } from "./resize.js";
import { kSequences } from "./sequences.js";

/** A set of ops: the newest version of it that is known, and the ops by name. */
interface Domain {
  readonly newest: number;
  readonly ops: Ops;
}

/** The domains by name; the first is ONNX's own. */
export const kDomains: Readonly<Record<string, Domain>> = {
  "": {
    newest: 24,
    ops: {
      ...kActivations,
      ...kArithmetic,
      ...kControl,
      ...kConvolutions,
      ...kCreation,
      ...kDropout,
      ...kFunctions,
      ...kIndexing,
      ...kLayout,
      ...kNormalization,
      ...kPooling,
      ...kProducts,
      ...kRecurrentOps,
      ...kReductions,
      ...kResizing,
      ...kSequences,
    },
  },
};

/** Returns the newest known version of a domain; undefined for a domain that is not known. */
export function newestVersion(domain: string): number | undefined {
  return Object.hasOwn(kDomains, domain) ? kDomains[domain]?.newest : undefined;
}

/** Returns an op of a version of a domain; undefined if there is none. */
export function findOp(domain: string, name: string, version: number): Op | undefined {
  const ops = Object.hasOwn(kDomains, domain) ? (kDomains[domain] as Domain).ops : {};
  const found = Object.hasOwn(ops, name) ? ops[name] : undefined;
  if (found === undefined) return undefined;
  const { since = 1, until = Number.POSITIVE_INFINITY } = found;
  return version >= since && version <= until ? found : undefined;
}
