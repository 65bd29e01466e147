// What the page of a function or class leads to: the same computation in other places, what stands beside it in the sources, and the pages of the guide.

import { dirname } from "node:path";
import { ReflectionKind } from "typedoc";
import { kOps } from "./sources.mjs";

const kMostSiblings = 5;
const kMostPages = 2;

const kPlaces = new WeakMap();

/** Remembers where a name is declared; called before the locations are removed. */
export function rememberPlace(reflection) {
  const [source] = reflection.sources ?? reflection.signatures?.[0]?.sources ?? [];
  if (source?.fullFileName)
    kPlaces.set(reflection, { file: source.fullFileName, line: source.line });
}

/** Returns where a name is declared, { file, line }. */
export function placeOf(reflection) {
  return kPlaces.get(reflection);
}

/** Returns the same computation as a class, a function, in place and as a method; then its neighbors. */
export function relatedTo(reflection, name, named) {
  const same = sameComputation(reflection, name, named);
  const others = siblingsOf(reflection, name, named).filter((one) => !same.includes(one));
  return [...same, ...others.slice(0, Math.max(2, kMostSiblings - same.length))];
}

function sameComputation(reflection, name, named) {
  const own = name.split(".").at(-1);
  const isClass = reflection.kindOf(ReflectionKind.Class);
  const places = (groupsOf(named).get(keyOf(name)) ?? []).filter(([other, candidate]) =>
    isClass
      ? !candidate.kindOf(ReflectionKind.Class) && !other.startsWith("edgegrad/")
      : isRelated(other, candidate, own),
  );
  const tensor = named.get("Tensor");
  const method = name.includes(".") ? undefined : tensor?.getChildByName(own);
  return [...places.map(([, candidate]) => candidate), ...(method ? [method] : [])].filter(
    (candidate) => candidate !== reflection,
  );
}

function isRelated(other, candidate, own) {
  if (candidate.kindOf(ReflectionKind.Class)) return other.startsWith("nn.");
  const last = other.split(".").at(-1);
  return !other.includes("functional.") && last.replace(/_$/, "") === own.replace(/_$/, "");
}

// Functions whose layer is named otherwise.
const kOtherNames = {
  bceloss: "binarycrossentropy",
  bcewithlogitsloss: "binarycrossentropywithlogits",
  kldivloss: "kldiv",
  crossentropyloss: "crossentropy",
  fold: "col2im",
  unfold: "im2col",
  upsample: "interpolate",
  upsamplingbilinear2d: "interpolate",
  upsamplingnearest2d: "interpolate",
  multiheadattention: "scaleddotproductattention",
  softmax2d: "softmax",
};

// "relu" for relu, relu_, nn.ReLU and nn.functional.relu; "conv2d" for nn.Conv2d and nn.LazyConv2d.
function keyOf(name) {
  const parts = name.split(".");
  const key = parts.at(-1).replace(/_$/, "").toLowerCase();
  if (parts[0] !== "nn" || !/^[A-Z]/.test(parts.at(-1))) return key;
  const plain = key
    .replace(/^lazy/, "")
    .replace(/^(batchnorm|instancenorm)[123]d$/, "$1")
    .replace(/^(circular|constant|reflection|replication|zero)pad[123]d$/, "pad");
  return kOtherNames[plain] ?? plain;
}

/** Returns the name of the function that computes what a layer does; null if there is none. */
export function functionOfLayer(name, named) {
  const key = keyOf(name);
  const found = (groupsOf(named).get(key) ?? []).find(
    ([other, candidate]) =>
      candidate.kindOf(ReflectionKind.Function) &&
      !other.endsWith("_") &&
      !other.startsWith("masked"),
  );
  return found?.[0] ?? null;
}

let groups = null;

function groupsOf(named) {
  if (groups !== null) return groups;
  groups = new Map();
  for (const entry of named) {
    const key = keyOf(entry[0]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(entry);
  }
  return groups;
}

// Those of one family of ops, file or folder; names that begin or end alike first, then the nearest.
function siblingsOf(reflection, name, named) {
  const candidates = [...named].filter(
    ([other, one]) =>
      one !== reflection &&
      (one.parent === reflection.parent || isInFolder(one, reflection)) &&
      (areClasses(one, reflection) || keyOf(other) !== keyOf(name)),
  );
  const family = kOps.get(name.replace(/_$/, ""))?.family;
  const here = kPlaces.get(reflection);
  const distance = ([other, one]) => {
    const there = kPlaces.get(one);
    const isNear =
      family === undefined
        ? here?.file === there?.file
        : kOps.get(other.replace(/_$/, ""))?.family === family;
    const isBeside =
      family === undefined && here && there && dirname(here.file) === dirname(there.file);
    const place = isNear ? 0 : isBeside ? 1 : 2;
    const isOtherForm = other.endsWith("_") !== name.endsWith("_");
    return (
      place * 100 -
      10 * likeness(other, name) +
      (isOtherForm ? 30 : 0) +
      (one.kind === reflection.kind ? 0 : 60) +
      (isNear ? Math.min(9, Math.abs((here?.line ?? 0) - (there?.line ?? 0)) / 100) : 0)
    );
  };
  const ranked = candidates.map((entry) => [distance(entry), entry[1]]).sort(([a], [b]) => a - b);
  return ranked.map(([, one]) => one).slice(0, kMostSiblings);
}

// Layers of one function, such as BatchNorm1d and BatchNorm2d, are neighbors.
function areClasses(one, other) {
  return one.kindOf(ReflectionKind.Class) && other.kindOf(ReflectionKind.Class);
}

function isInFolder(one, other) {
  const [here, there] = [one, other].map((reflection) => placeOf(reflection)?.file);
  return here !== undefined && there !== undefined && dirname(here) === dirname(there);
}

// The number of words that both names have, "Conv2d" and "Conv3d" one.
function likeness(a, b) {
  const words = (text) =>
    text
      .split(".")
      .at(-1)
      .replace(/_$/, "")
      .match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)
      ?.map((word) => word.toLowerCase()) ?? [];
  const own = new Set(words(a));
  return words(b).filter((word) => own.has(word)).length;
}

let mentions = null;

/** Returns the pages of the guide whose programs or sentences name something most often. */
export function pagesAbout(name, documents) {
  mentions ??= documents
    .filter(({ frontmatter }) => frontmatter.category !== "Lists")
    .map((page) => [page, page.content.map(({ text }) => text).join("")]);
  const own = name.replace(/^edgegrad\/\w+\./, "");
  const isAddon = own !== name;
  const pattern = new RegExp(
    `(?<![\\w.])${isAddon ? "" : "(?:eg\\.)"}${own.replaceAll(".", "\\.")}(?![\\w.])`,
    "g",
  );
  const found = mentions
    .map(([page, content]) => [page, content.match(pattern)?.length ?? 0])
    .filter(([, count]) => count > 0);
  return found
    .sort(([, a], [, b]) => b - a)
    .slice(0, kMostPages)
    .map(([page]) => page);
}
