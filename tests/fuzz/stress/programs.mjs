// A program of the stress fuzzer: lines determined by a seed and a number, each of which starts an action or waits. `go(a, 7)` starts
// action `a` with seed 7, `go(spawn(a), 7)` in a worker, and `go(killed(spawn(a)), 7)` in one that is terminated.

import { Random } from "../random.mjs";
import { kActions } from "./actions.mjs";

const kLineKinds = [
  [6, "go"],
  [5, "spawn"],
  [2, "kill"],
  [2, "await"],
  [1, "settle"],
];

/** Returns the lines of a program. */
export function linesOf(seed, number) {
  const random = new Random(seed, number);
  const names = Object.keys(kActions);
  const lines = Array.from({ length: 3 + random.int(8) }, () => {
    const kind = random.weighted(kLineKinds);
    return kind === "settle"
      ? { kind }
      : { kind, name: random.pick(names), seed: random.int(2 ** 20) };
  });
  if (random.chance(0.15)) {
    lines.splice(random.int(lines.length + 1), 0, {
      kind: random.chance(0.5) ? "restart" : "restartAtOnce",
    });
  }
  return lines.map((line) => ({ ...line, text: textOf(line), mayChange: true }));
}

function textOf({ kind, name, seed }) {
  switch (kind) {
    case "go":
      return `go(${name}, ${seed})`;
    case "await":
      return `await ${name}(${seed})`;
    case "spawn":
      return `go(spawn(${name}), ${seed})`;
    case "kill":
      return `go(killed(spawn(${name})), ${seed})`;
    case "settle":
      return "await settle()";
    case "restart":
      return "await eg.shutdown(); await eg.init(options)";
    default:
      return "eg.shutdown(); await eg.init(options)";
  }
}
