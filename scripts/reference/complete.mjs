// What the page of every function and class of the reference must say. Exceptions are rules with a reason, not names.

import { ReflectionKind } from "typedoc";
import { kOps } from "./sources.mjs";

const kNeeded = ["Example", "PyTorch", "See also", "Errors", "Shapes", "Dtypes", "Formula"];

const isAddon = ({ name }) => name.startsWith("edgegrad/");
const isIn =
  (...places) =>
  (one) =>
    places.some((place) => one.name.startsWith(`${place}.`));

// Families whose ops move or choose elements; what they do is said in words.
const kMovers = new Set([
  "Views",
  "Joining and rearranging",
  "Indexing",
  "Order",
  "Copies",
  "New tensors",
  "Sparse tensors",
  "Bits and divisors",
  "Random samples",
  "Complex numbers",
]);

/** [what is not needed, why, for which]. */
const kExceptions = [
  [
    "Formula",
    "moves, chooses or makes elements",
    ({ op }) => op !== undefined && kMovers.has(op.family),
  ],
  [
    "Formula",
    "is made of other ops, in words",
    ({ isClass, name, op }) => !isClass && op === undefined && !name.startsWith("optim."),
  ],
  [
    "Formula",
    "takes apart or arranges, with no arithmetic",
    ({ name }) =>
      /^nn\.(\w*Pad\dd|Flatten|Unflatten|Fold|Unfold|\w*Shuffle|MaxUnpool\dd|Upsampl\w*|Upsample|ChannelShuffle|Sequential|\w+List|\w+Dict|Module|Parameter|Buffer|Uninitialized\w+)$/.test(
        name,
      ),
  ],
  [
    "Formula",
    "is a base class, or tells no density",
    ({ name }) =>
      /\.(Optimizer|BaseScheduler|LRScheduler|Distribution|Transform|\w+Transform|Constraint)$/.test(
        name,
      ),
  ],
  [
    "Formula",
    "is in words",
    ({ op }) =>
      op !== undefined &&
      ["Images", "Comparison", "Selection", "Linear algebra", "Reductions", "Products"].includes(
        op.family,
      ),
  ],
  ["Formula", "takes or returns no tensors", isWithoutTensors],
  ["Shapes", "takes or returns no tensors", isWithoutTensors],
  ["Dtypes", "takes or returns no tensors", isWithoutTensors],
  [
    "Dtypes",
    "has the dtype of what it is given",
    ({ name }) => /^(nn\.Uninitialized\w+|optim\.\w+)$/.test(name),
  ],
  ["Errors", "is an add-on's: its errors come from servers, files and models", isAddon],
];

// Modes, files, hooks, tools and what holds modules: tensors of any shape and dtype pass through them.
function isWithoutTensors(one) {
  if (isAddon(one)) return true;
  if (
    isIn(
      "data",
      "io",
      "amp",
      "random",
      "testing",
      "autograd",
      "func",
      "optim.lrScheduler",
      "optim.swaUtils",
      "nn.utils",
      "nn.init",
      "distributions.constraints",
      "distributions",
    )(one)
  )
    return true;
  return (
    /^nn\.(Module|Sequential|\w+List|\w+Dict|LazyModuleMixin|registerModule\w+)$/.test(one.name) ||
    (one.op === undefined &&
      !one.isClass &&
      !/^(nn|linalg|special|masked|signal|sparse)\./.test(one.name)) ||
    /^[A-Z]\w+$/.test(one.name) ||
    /^optim\.(register\w+|Optimizer)$/.test(one.name)
  );
}

/** Throws if a page lacks what it needs; `heads` has the rows of each. Prints the exceptions if `EG_REFERENCE_EXCEPTIONS` is set. */
export function refuseIncomplete(named, heads) {
  const excused = new Map();
  const lacking = [];
  for (const [name, reflection] of named) {
    const ofTable = kOps.get(name.replace(/^nn\.functional\.|_$/g, ""));
    const op = ofTable?.kind === "internal" ? undefined : ofTable;
    const one = { name, op, isClass: reflection.kindOf(ReflectionKind.Class) };
    for (const head of kNeeded.filter((head) => !heads.get(name).has(head))) {
      const [, reason] = kExceptions.find(([what, , holds]) => what === head && holds(one)) ?? [];
      if (reason === undefined) lacking.push(`${name}: ${head}`);
      else excused.set(`${head}: ${reason}`, [...(excused.get(`${head}: ${reason}`) ?? []), name]);
    }
  }
  if (process.env.EG_REFERENCE_EXCEPTIONS)
    for (const [rule, names] of excused)
      console.log(`${rule} (${names.length}): ${names.join(" ")}`);
  if (lacking.length > 0)
    throw new Error(
      `${lacking.length} facts are missing on pages of the reference (scripts/reference/complete.mjs says what each needs):\n${lacking.join("\n")}`,
    );
}
