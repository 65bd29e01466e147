// The order of the nodes of a graph: each after the nodes whose outputs it reads. Some writers do not keep it.

import { fail } from "../../errors/errors.js";
import type { Message } from "../proto/schema.js";

type Node = Message<"Node">;
type Graph = Message<"Graph">;

/**
 * Returns nodes in an order in which each one is after those that it depends on. Nodes that are in such an order stay as they are,
 * and others move before the first node that needs them; `given` has the values that no node makes. Throws InvalidArgument for a cycle.
 */
export function ordered(
  nodes: readonly Node[],
  given: ReadonlyMap<string, unknown>,
): readonly Node[] {
  const makers = new Map<string, number>();
  for (const [i, { output }] of nodes.entries()) {
    for (const name of output.filter(Boolean)) {
      // The compiler refuses a name that is given twice.
      if (makers.has(name) || given.has(name)) return nodes;
      makers.set(name, i);
    }
  }
  const needs = nodes.map((node) => [...namesIn(node)].filter((name) => makers.has(name)));
  const isSorted = needs.every((names, i) =>
    names.every((name) => (makers.get(name) as number) < i),
  );
  return isSorted ? nodes : sorted(nodes, needs, makers);
}

interface Open {
  readonly node: number;
  /** The number of its needs that are done. */
  done: number;
}

// A search in depth without recursion, because chains of nodes are long.
function sorted(
  nodes: readonly Node[],
  needs: readonly (readonly string[])[],
  makers: ReadonlyMap<string, number>,
): Node[] {
  const result: Node[] = [];
  const states = new Map<number, "open" | "done">();
  for (const first of nodes.keys()) {
    if (states.has(first)) continue;
    const path: Open[] = [{ node: first, done: 0 }];
    states.set(first, "open");
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const name = needs[top.node]?.[top.done++];
      if (name === undefined) {
        states.set(top.node, "done");
        result.push(nodes[top.node] as Node);
        path.pop();
        continue;
      }
      const maker = makers.get(name) as number;
      const state = states.get(maker);
      if (state === "open") refuseCycle(path, maker, needs);
      if (state !== undefined) continue;
      states.set(maker, "open");
      path.push({ node: maker, done: 0 });
    }
  }
  return result;
}

/** The limit on names of a cycle in a message. */
const kMostNames = 20;

function refuseCycle(
  path: readonly Open[],
  maker: number,
  needs: readonly (readonly string[])[],
): never {
  const start = path.findIndex(({ node }) => node === maker);
  const names = path.slice(start).map(({ node, done }) => `"${needs[node]?.[done - 1]}"`);
  const isLong = names.length > kMostNames;
  const list = isLong ? [...names.slice(0, kMostNames), "…"] : [...names, names[0]];
  const text = `the nodes form a cycle, in which each value needs the next one: ${list.join(", ")}.`;
  return fail("InvalidArgument", "onnx.load", text);
}

// The names that a node reads from the graph around it, also in the graphs inside it.
function namesIn({ input, attribute }: Node): Set<string> {
  const names = new Set(input);
  for (const { g } of attribute) if (g !== undefined) for (const free of freeIn(g)) names.add(free);
  return names;
}

// Cached: otherwise each nested graph would be searched once for every graph around it.
const free = new WeakMap<Graph, ReadonlySet<string>>();

function freeIn(graph: Graph): ReadonlySet<string> {
  let found = free.get(graph);
  if (found === undefined) {
    const own = new Set([...graph.input, ...graph.initializer].map(({ name }) => name));
    for (const { output } of graph.node) for (const name of output) own.add(name);
    const read = new Set(graph.output.map(({ name }) => name ?? ""));
    for (const node of graph.node) for (const name of namesIn(node)) read.add(name);
    found = new Set([...read].filter((name) => !own.has(name)));
    free.set(graph, found);
  }
  return found;
}
