// Where in a module a tensor of a file is: "encoder.0.weight" is the property `weight` of the part `0` of the part `encoder`.

import * as eg from "edgegrad";

/** Returns for each name the properties that lead to it; names that cannot be properties get "_" behind them. */
export function memberPaths(names: readonly string[]): string[][] {
  const taken = new Set<string>();
  const parts = new Set<string>();
  for (const name of names) {
    const words = wordsOf(name);
    for (let i = 1; i < words.length; i++) parts.add(words.slice(0, i).map(property).join("."));
  }
  return names.map((name) => {
    const path = wordsOf(name).map(property);
    // A tensor cannot have parts of its own.
    while (taken.has(path.join(".")) || parts.has(path.join("."))) path.push(`${path.pop()}_`);
    taken.add(path.join("."));
    return path;
  });
}

// A name of very many words is one property, whose name cannot have dots.
function wordsOf(name: string): string[] {
  const words = name.split(".", kMostWords + 1);
  return words.length > kMostWords ? [name.replaceAll(".", "_")] : words;
}

const kMostWords = 32;

const kReserved = ["inputs", "outputs", "opset", "producer", "metadata", "run", "training"];

// A name that a module already has for something else would hide it.
function property(word: string): string {
  const isTaken = word === "" || word in eg.nn.Module.prototype || kReserved.includes(word);
  return isTaken ? `${word}_` : word;
}
