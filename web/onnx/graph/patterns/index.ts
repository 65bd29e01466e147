// Chains of nodes that one op of edgegrad computes: faster, more exact, and with one node of the backward graph.

import type { Value } from "../../values/value.js";
import type { Subgraph } from "../program.js";
import { findClippedSum, findGelu, findHardSwish, findSilu, findTanhGelu } from "./activations.js";
import { findAttention } from "./attention.js";
import { replaceAll } from "./match.js";
import { findLayerNorm, findRmsNorm } from "./norms.js";

/** Replaces such chains in a graph; `constants` are the values that are known. */
export function fuse(graph: Subgraph, constants: ReadonlyMap<number, Value>): void {
  const patterns = [
    findLayerNorm,
    findRmsNorm,
    findGelu,
    findTanhGelu,
    findSilu,
    findClippedSum,
    findHardSwish,
    findAttention,
  ];
  replaceAll(graph, constants, patterns);
}
