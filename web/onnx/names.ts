// Maps the names of tensors in a file to paths in a module: "encoder.0.weight" is the property `weight` of submodule `0` of submodule
// `encoder`.

import * as eg from "edgegrad";

/** Returns for each name the path of properties to it; names that cannot be properties get "_" appended. */
export function memberPaths(names: readonly string[]): string[][] {
  const taken = new Set<string>();
  const parts = new Set<string>();
  for (const name of names) {
    const words = wordsOf(name);
    for (let i = 1; i < words.length; i++) parts.add(words.slice(0, i).map(property).join("."));
  }
  return names.map((name) => {
    const path = wordsOf(name).map(property);
    // A tensor cannot have submodules.
    while (taken.has(path.join(".")) || parts.has(path.join("."))) path.push(`${path.pop()}_`);
    taken.add(path.join("."));
    return path;
  });
}

// A name of very many words becomes one property, with its dots replaced.
function wordsOf(name: string): string[] {
  const words = name.split(".", kMostWords + 1);
  return words.length > kMostWords ? [name.replaceAll(".", "_")] : words;
}

const kMostWords = 32;

const kReserved = [
  "inputs",
  "outputs",
  "opset",
  "producer",
  "metadata",
  "run",
  "describe",
  "training",
];

// A property must not shadow a member of the module.
function property(word: string): string {
  const isTaken = word === "" || word in eg.nn.Module.prototype || kReserved.includes(word);
  return isTaken ? `${word}_` : word;
}
