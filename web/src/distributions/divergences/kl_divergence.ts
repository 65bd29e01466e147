// The Kullback-Leibler divergence: a table of formulas by the classes of the two distributions.

import { functionOf, Rule } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { DistributionClass } from "../base/declaration.js";
import { Distribution } from "../base/distribution.js";
import { bregmanDivergence, ExponentialFamily } from "../base/exponential_family.js";
import { sumRightmost } from "../base/numbers.js";
import { distribution, Independent } from "../combined/independent.js";
import { TransformedDistribution } from "../combined/transformed_distribution.js";
import type { Transform } from "../transforms/transform.js";
import { pairsOfLowRank } from "./low_rank.js";
import { pairsOfOthers } from "./others.js";
import { type KlPair, pair, requireSameEvents } from "./pair.js";
import { pairsOfSame } from "./same.js";

const registered: KlPair[] = [];
let known: readonly KlPair[] | undefined;

const classRule = /* @__PURE__ */ new Rule<DistributionClass>(
  "a class of distributions",
  (value) => typeof value === "function" && value.prototype instanceof Distribution,
);

/** Returns the Kullback-Leibler divergence KL(p || q), one number per distribution: the mean of log p - log q under p. */
export function klDivergence(p: Distribution, q: Distribution): Tensor {
  distribution.check("klDivergence", "p", p);
  distribution.check("klDivergence", "q", q);
  const kl = nearest(p, q)?.kl;
  return kl === undefined ? unknownPair(p, q) : kl(p, q);
}

function unknownPair(p: Distribution, q: Distribution): never {
  const message = `KL(p || q) is not known for ${p.constructor.name} and ${q.constructor.name}; registerKl() adds it.`;
  return fail("InvalidArgument", "klDivergence", message);
}

/** Registers the divergence of two classes, which subclasses inherit unless a more specific pair is registered. */
export function registerKl<P extends Distribution, Q extends Distribution>(
  typeP: DistributionClass<P>,
  typeQ: DistributionClass<Q>,
  fn: (p: P, q: Q) => Tensor,
): void {
  const p = classRule.check("registerKl", "typeP", typeP);
  const q = classRule.check("registerKl", "typeQ", typeQ);
  const kl = functionOf<KlPair["kl"]>().check("registerKl", "fn", fn);
  registered.unshift({ p, q, kl });
}

// Returns the most specific matching pair: first by the class of p, then of q; of equal pairs, the one registered last.
function nearest(p: Distribution, q: Distribution): KlPair | undefined {
  known ??= [
    pair(Independent, Independent, klOfIndependents),
    pair(TransformedDistribution, TransformedDistribution, klOfTransformed),
    pair(ExponentialFamily, ExponentialFamily, klOfFamilies),
    ...pairsOfSame(),
    ...pairsOfOthers(),
    ...pairsOfLowRank(),
  ];
  const matches = [...registered, ...known].filter((pair) => {
    return p instanceof pair.p && q instanceof pair.q;
  });
  const order = (a: KlPair, b: KlPair) => depth(b.p) - depth(a.p) || depth(b.q) - depth(a.q);
  return matches.sort(order)[0];
}

function depth(type: DistributionClass): number {
  const parent: unknown = Object.getPrototypeOf(type);
  return typeof parent === "function" ? 1 + depth(parent as DistributionClass) : 0;
}

function klOfIndependents(p: Independent, q: Independent): Tensor {
  const count = p.reinterpretedBatchNdims;
  if (count !== q.reinterpretedBatchNdims) {
    const message = `expected two Independent with the same reinterpretedBatchNdims, got ${count} and ${q.reinterpretedBatchNdims}.`;
    fail("InvalidArgument", "klDivergence", message);
  }
  return sumRightmost(klDivergence(p.baseDist, q.baseDist), count);
}

function klOfFamilies(p: ExponentialFamily, q: ExponentialFamily): Tensor {
  return p.constructor === q.constructor ? bregmanDivergence(p, q) : unknownPair(p, q);
}

function klOfTransformed(p: TransformedDistribution, q: TransformedDistribution): Tensor {
  requireSameEvents(p, q);
  const isSame =
    p.transforms.length === q.transforms.length &&
    p.transforms.every((part, i) => part.equals(q.transforms[i] as Transform));
  if (!isSame) {
    const message = `expected two transformed distributions with the same transforms, got ${p.transforms} and ${q.transforms}.`;
    fail("InvalidArgument", "klDivergence", message);
  }
  return klDivergence(p.baseDist, q.baseDist);
}
