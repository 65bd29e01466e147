// Ensembles of decision trees. They are not differentiable: the results have no gradient.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import type { Host } from "../../values/host.js";
import { host, type Value } from "../../values/value.js";
import {
  int,
  maybeFloats,
  maybeInts,
  maybeList,
  maybeStrings,
  type Ops,
  op,
  string,
} from "../op.js";
import {
  bothClasses,
  kTreeLabels,
  labeled,
  labelsIn,
  largest,
  rowsOf,
  transformed,
} from "./scores.js";

/** The tests of nodes, in the order of their numbers in TreeEnsemble. */
const kModes = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER", "LEAF"] as const;
const kLeaf = 7;

/** What one node or leaf is. */
interface Node {
  readonly mode: number;
  readonly feature: number;
  readonly threshold: number;
  /** Whether a missing value, NaN, takes the branch of a test that holds. */
  readonly missing: boolean;
  /** The places of the next nodes. */
  yes: number;
  no: number;
  readonly members: ReadonlySet<number> | undefined;
  /** What a leaf adds: [target, weight]. */
  readonly weights: (readonly [number, number])[];
}

interface Ensemble {
  readonly nodes: readonly Node[];
  readonly roots: readonly number[];
}

function holds({ mode, threshold, missing, members }: Node, value: number): boolean {
  if (missing && Number.isNaN(value)) return true;
  switch (mode) {
    case 0:
      return value <= threshold;
    case 1:
      return value < threshold;
    case 2:
      return value >= threshold;
    case 3:
      return value > threshold;
    case 4:
      return value === threshold;
    case 5:
      return value !== threshold;
    default:
      return members?.has(value) ?? false;
  }
}

type Combine = "SUM" | "AVERAGE" | "MIN" | "MAX";

type Scores = Float32Array | Float64Array;

/** The limit on scores of a call: the number of targets comes from the file. */
const kMostScores = 2 ** 27;

/** Returns the combined weights [rows, targets]. Sums of floats are rounded to floats, because labels depend on ties. */
function evaluate(
  { nodes, roots }: Ensemble,
  rows: Host<number>,
  targets: number,
  combine: Combine,
): Scores {
  const [count = 0, features = 0] = rows.shape;
  if (!(targets >= 1 && count * targets <= kMostScores)) {
    fail("InvalidArgument", "OnnxModule", `trees with ${targets} targets for ${count} rows.`);
  }
  const Elements = rows.type === "double" ? Float64Array : Float32Array;
  const scores = new Elements(count * targets);
  const isSet = new Uint8Array(count * targets);
  for (let row = 0; row < count; row++) {
    for (const root of roots) {
      for (const [target, weight] of leafOf(nodes, root, rows.data, row * features, features)) {
        const at = row * targets + target;
        if (!(target >= 0 && target < targets)) {
          fail("InvalidArgument", "OnnxModule", `a leaf has the target ${target} of ${targets}.`);
        }
        const before = scores[at] as number;
        if (!isSet[at]) scores[at] = weight;
        else if (combine === "MIN") scores[at] = Math.min(before, weight);
        else if (combine === "MAX") scores[at] = Math.max(before, weight);
        else scores[at] = before + weight;
        isSet[at] = 1;
      }
    }
  }
  if (combine === "AVERAGE")
    for (const at of scores.keys()) scores[at] = (scores[at] as number) / roots.length;
  return scores;
}

function leafOf(
  nodes: readonly Node[],
  root: number,
  data: readonly number[],
  start: number,
  features: number,
): Node["weights"] {
  let node = nodes[root];
  for (let steps = 0; steps <= nodes.length && node !== undefined; steps++) {
    if (node.mode === kLeaf) return node.weights;
    if (!(node.feature >= 0 && node.feature < features)) {
      const text = `a tree tests feature ${node.feature}, and the rows have ${features}.`;
      fail("ShapeMismatch", "OnnxModule", text);
    }
    node = nodes[holds(node, data[start + node.feature] as number) ? node.yes : node.no];
  }
  const what = node === undefined ? "a node that is missing" : "a cycle";
  return fail("InvalidArgument", "OnnxModule", `a tree leads to ${what}.`);
}

// Versions 1 and 3: nodes are named by the numbers of their tree and of themselves.
const kNodes = {
  nodes_falsenodeids: maybeInts,
  nodes_featureids: maybeInts,
  nodes_hitrates: maybeFloats,
  nodes_hitrates_as_tensor: maybeList,
  nodes_missing_value_tracks_true: maybeInts,
  nodes_modes: maybeStrings,
  nodes_nodeids: maybeInts,
  nodes_treeids: maybeInts,
  nodes_truenodeids: maybeInts,
  nodes_values: maybeFloats,
  nodes_values_as_tensor: maybeList,
  base_values: maybeFloats,
  base_values_as_tensor: maybeList,
  post_transform: string("NONE"),
};

type List = readonly number[] | undefined;
type Given = Readonly<Record<string, unknown>>;

const listIn = (given: Given, name: string): readonly number[] => {
  const list = given[`${name}_as_tensor`] as Host<number> | undefined;
  return list?.data ?? (given[name] as List) ?? [];
};

// Cached by the attributes of a node: a tree is built once.
const built = new WeakMap<object, Ensemble>();

function ensembleOf(given: Given, make: () => Ensemble): Ensemble {
  const found = built.get(given) ?? make();
  built.set(given, found);
  return found;
}

function namedNodes(given: Given, kind: "class" | "target"): Ensemble {
  const ints = (name: string) => (given[name] as List) ?? [];
  const trees = ints("nodes_treeids");
  const ids = ints("nodes_nodeids");
  const modes = (given.nodes_modes as readonly string[] | undefined) ?? [];
  const values = listIn(given, "nodes_values");
  const missing = ints("nodes_missing_value_tracks_true");
  const features = ints("nodes_featureids");
  const places = new Map(ids.map((id, i) => [`${trees[i]}.${id}`, i]));
  const nodes = ids.map((_, i): Node => {
    const mode = kModes.indexOf((modes[i] ?? "").replace("BRANCH_", "") as "LEAF");
    if (mode < 0 || mode === 6)
      fail("InvalidArgument", "OnnxModule", `a tree has the unknown mode "${modes[i]}".`);
    const next = (names: string) => places.get(`${trees[i]}.${ints(names)[i]}`) ?? -1;
    return {
      mode,
      feature: features[i] ?? 0,
      threshold: values[i] ?? 0,
      missing: missing[i] === 1,
      yes: next("nodes_truenodeids"),
      no: next("nodes_falsenodeids"),
      members: undefined,
      weights: [],
    };
  });
  const weights = listIn(given, `${kind}_weights`);
  const leafTrees = ints(`${kind}_treeids`);
  const leafIds = ints(`${kind}_nodeids`);
  ints(`${kind}_ids`).forEach((target, i) => {
    const place = places.get(`${leafTrees[i]}.${leafIds[i]}`) ?? -1;
    nodes[place]?.weights.push([target, weights[i] ?? 0]);
  });
  // The first node of each tree is its root.
  const roots = new Map<number, number>();
  trees.forEach((tree, i) => {
    if (!roots.has(tree)) roots.set(tree, i);
  });
  return { nodes, roots: [...roots.values()] };
}

const kCombine = ["AVERAGE", "SUM", "MIN", "MAX"] as const;
const kTransformNames = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"] as const;

// Version 5: nodes and leaves are named by their places.
function placedNodes(given: Given): Ensemble {
  const ints = (name: string) => (given[name] as List) ?? [];
  const numbers = (name: string) => (given[name] as Host<number> | undefined)?.data ?? [];
  const features = ints("nodes_featureids");
  const modes = numbers("nodes_modes");
  const splits = numbers("nodes_splits");
  const missing = ints("nodes_missing_value_tracks_true");
  const leaves = ints("leaf_targetids");
  const weights = numbers("leaf_weights");
  // The values of each MEMBER node end with NaN.
  const sets: Set<number>[] = [new Set()];
  for (const value of numbers("membership_values")) {
    if (Number.isNaN(value)) sets.push(new Set());
    else sets.at(-1)?.add(value);
  }
  let used = 0;
  const nodes = features.map((feature, i): Node => {
    const next = (way: string) =>
      (ints(`nodes_${way}nodeids`)[i] ?? -1) + (ints(`nodes_${way}leafs`)[i] ? features.length : 0);
    const mode = modes[i] ?? -1;
    if (!(mode >= 0 && mode <= 6))
      fail("InvalidArgument", "OnnxModule", `a tree has the unknown mode ${mode}.`);
    return {
      mode,
      feature,
      threshold: splits[i] ?? 0,
      missing: missing[i] === 1,
      yes: next("true"),
      no: next("false"),
      members: mode === 6 ? sets[used++] : undefined,
      weights: [],
    };
  });
  const ends = leaves.map((target, i): Node => {
    const own = { weights: [[target, weights[i] ?? 0] as const], members: undefined };
    return { mode: kLeaf, feature: 0, threshold: 0, missing: false, yes: -1, no: -1, ...own };
  });
  return { nodes: [...nodes, ...ends], roots: ints("tree_roots") };
}

function rowsIn(input: Value): { x: eg.Tensor; rows: Host<number> } {
  const x = rowsOf(input);
  return { x, rows: host(x) };
}

const scoresLike = (x: eg.Tensor, scores: Scores, targets: number) =>
  eg.tensor(scores, {
    dtype: x.dtype === "float64" ? "float64" : "float32",
    device: x.device,
    shape: [x.shape[0] as number, targets],
  });

const kClassifier = {
  ...kNodes,
  ...kTreeLabels,
  class_ids: maybeInts,
  class_nodeids: maybeInts,
  class_treeids: maybeInts,
  class_weights: maybeFloats,
  class_weights_as_tensor: maybeList,
};

function classify(input: Value, given: Given & { post_transform: string }): Value[] {
  const { x, rows } = rowsIn(input);
  const ints = given.classlabels_int64s as List;
  const labels = labelsIn(ints, given.classlabels_strings as readonly string[] | undefined);
  const ids = new Set((given.class_ids as List) ?? []);
  const classes = labels?.length ?? [...ids].reduce((a, b) => Math.max(a, b), 0) + 1;
  const ensemble = ensembleOf(given, () => namedNodes(given, "class"));
  const weights = listIn(given, "class_weights");
  const base = listIn(given, "base_values");
  const { post_transform } = given;
  if (classes === 2 && ids.size === 1) {
    // Only one class has weights. If it is the first one, the second one takes the opposite score, or what is left.
    const [only = 0] = ids;
    const scores = evaluate(ensemble, rows, 2, "SUM");
    const single = Float64Array.from({ length: scores.length / 2 }, (_, row) => {
      return (scores[2 * row + only] as number) + (base.at(-1) ?? 0);
    });
    const areShares = weights.every((weight) => weight >= 0);
    const winners = Array.from(single, (score) => Number(score > (areShares ? 0.5 : 0)));
    const own = scoresLike(x, single, 1);
    const result =
      only === 0
        ? bothClasses(own, post_transform, areShares)
        : transformed(eg.cat([eg.zerosLike(own), own], 1), post_transform);
    return [labeled(winners, labels), result];
  }
  const scores = evaluate(ensemble, rows, classes, "SUM");
  if (base.length > 0)
    for (const at of scores.keys()) {
      scores[at] = (scores[at] as number) + (base[at % classes] ?? 0);
    }
  const all = scoresLike(x, scores, classes);
  return [labeled(largest(all), labels), transformed(all, post_transform)];
}

const kRegressor = {
  ...kNodes,
  aggregate_function: string("SUM"),
  n_targets: int(1),
  target_ids: maybeInts,
  target_nodeids: maybeInts,
  target_treeids: maybeInts,
  target_weights: maybeFloats,
  target_weights_as_tensor: maybeList,
};

export const kTrees: Ops = {
  TreeEnsembleClassifier: op({
    attributes: kClassifier,
    ownTypes: true,
    run: ([input], given) => classify(input, given),
  }),
  TreeEnsembleRegressor: op({
    attributes: kRegressor,
    ownTypes: true,
    run: ([input], given) => {
      const { x, rows } = rowsIn(input);
      const { n_targets: targets, aggregate_function, post_transform } = given;
      const ensemble = ensembleOf(given, () => namedNodes(given, "target"));
      const scores = evaluate(ensemble, rows, targets, aggregate_function as Combine);
      const base = listIn(given, "base_values");
      const all = scoresLike(x, scores, targets);
      const sums = base.length > 0 ? all.add(eg.tensor([...base], { device: x.device })) : all;
      return transformed(sums, post_transform);
    },
  }),
  TreeEnsemble: op({
    since: 5,
    attributes: {
      aggregate_function: int(1),
      leaf_targetids: maybeInts,
      leaf_weights: maybeList,
      membership_values: maybeList,
      n_targets: int(1),
      nodes_falseleafs: maybeInts,
      nodes_falsenodeids: maybeInts,
      nodes_featureids: maybeInts,
      nodes_hitrates: maybeList,
      nodes_missing_value_tracks_true: maybeInts,
      nodes_modes: maybeList,
      nodes_splits: maybeList,
      nodes_trueleafs: maybeInts,
      nodes_truenodeids: maybeInts,
      post_transform: int(0),
      tree_roots: maybeInts,
    },
    ownTypes: true,
    run: ([input], given) => {
      const { x, rows } = rowsIn(input);
      const { n_targets: targets, aggregate_function, post_transform } = given;
      const ensemble = ensembleOf(given, () => placedNodes(given));
      const combine = kCombine[aggregate_function] ?? "SUM";
      const scores = evaluate(ensemble, rows, targets, combine);
      const name = kTransformNames[post_transform] ?? String(post_transform);
      return transformed(scoresLike(x, scores, targets), name);
    },
  }),
};
