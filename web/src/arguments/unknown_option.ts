// Messages about unknown options. Nearly always the option exists, but was spelled as in Python or in another
// library, or mistyped.

import { fail } from "../runtime/errors/errors.js";

/** Throws InvalidArgument for an option that is not among `known`; `usage` is a sentence about the known ones. */
export function refuseOption(
  where: string,
  given: string,
  known: readonly string[],
  usage: string,
): never {
  const nearest = nearestOption(given, known);
  const question = nearest === undefined ? "" : ` Did you mean ${JSON.stringify(nearest)}?`;
  const name = JSON.stringify(given);
  fail("InvalidArgument", where, `unknown option ${name}.${question} ${usage}`);
}

// The names of options in other libraries, in lower case and without underscores.
const kOtherNames: Readonly<Record<string, readonly string[]>> = {
  learningrate: ["lr"],
  maxlearningrate: ["maxLr"],
  decay: ["weightDecay", "lrDecay"],
  l2: ["weightDecay"],
  wd: ["weightDecay"],
  rho: ["alpha", "momentum"],
  beta: ["betas"],
  beta1: ["betas"],
  beta2: ["betas"],
  epsilon: ["eps"],
  axis: ["dim", "dims"],
  axes: ["dim", "dims"],
  batch: ["batchSize"],
  bs: ["batchSize"],
  rate: ["p", "dropout", "lr"],
  prob: ["p", "dropout"],
  probability: ["p", "dropout"],
  dropoutp: ["dropout"],
  reduce: ["reduction"],
  sizeaverage: ["reduction"],
  usebias: ["bias"],
  hasbias: ["bias"],
  inputdim: ["inFeatures", "inputSize"],
  outputdim: ["outFeatures"],
  units: ["outFeatures", "hiddenSize"],
  filters: ["outChannels"],
  layers: ["numLayers"],
  heads: ["numHeads", "nhead"],
  type: ["dtype"],
  grad: ["requiresGrad"],
  keepgraph: ["retainGraph"],
  workers: ["threads"],
  backend: ["variant"],
};

/** Returns the known option that was most likely meant. */
export function nearestOption(given: string, known: readonly string[]): string | undefined {
  const wanted = plain(given);
  const others = Object.hasOwn(kOtherNames, wanted) ? (kOtherNames[wanted] ?? []) : [];
  return (
    known.find((name) => plain(name) === wanted) ??
    others.find((name) => known.includes(name)) ??
    nearestSpelling(wanted, known) ??
    known.find((name) => isPartOf(wanted, plain(name)))
  );
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

function nearestSpelling(wanted: string, known: readonly string[]): string | undefined {
  // Such a long name is not a typo, and comparing it would take long.
  if (wanted.length > kMaxLength) return undefined;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const spelling = plain(name);
    const length = Math.max(wanted.length, spelling.length);
    const distance = editDistance(wanted, spelling);
    if (distance >= least || distance > Math.max(1, length / 3) || distance >= length) continue;
    nearest = name;
    least = distance;
  }
  return nearest;
}

const kMaxLength = 40;

// True for "smoothing" and labelSmoothing, or "biasTerm" and bias.
function isPartOf(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 3 && long.includes(short);
}

// The number of characters left out, added or changed, and of neighbors swapped.
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, k) => k);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let k = 1; k <= b.length; k++) {
      const change = (last[k - 1] ?? 0) + (a[i - 1] === b[k - 1] ? 0 : 1);
      let least = Math.min(change, (last[k] ?? 0) + 1, (row[k - 1] ?? 0) + 1);
      const isSwap = i > 1 && k > 1 && a[i - 1] === b[k - 2] && a[i - 2] === b[k - 1];
      if (isSwap) least = Math.min(least, (before[k - 2] ?? 0) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
