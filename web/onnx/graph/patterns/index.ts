// Fuses chains of nodes into one op of edgegrad: faster, more accurate, and with one node in the backward graph.

import type { Value } from "../../values/value.js";
import type { Subgraph } from "../program.js";
import { findClippedSum, findGelu, findHardSwish, findSilu, findTanhGelu } from "./activations.js";
import { findAttention } from "./attention.js";
import { replaceAll } from "./match.js";
import { findLayerNorm, findRmsNorm } from "./norms.js";

/** Fuses such chains in a graph; `constants` are the known values. */
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
