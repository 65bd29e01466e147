// The worker of the engine room: runs a visitor's module, walks its graph, and records backward.

import { expose } from "comlink";
import * as eg from "edgegrad";
import { CodeError, importCode } from "../shared/code/code_module.js";
import { layOut } from "../shared/graph/layout.js";
import { errorText } from "../shared/printed.js";
import { startEngine } from "../shared/trainer.js";
import { describeNode, leafNames, walk } from "./graph.js";
import { linesOf } from "./layout_text.js";
import { canRunTogether, record, rehearse, runsOf } from "./passes.js";
import type { GraphNode, Recording } from "./recording.js";

class EngineRoom {
  start(device: eg.Device): Promise<eg.RuntimeInfo> {
    return startEngine(device);
  }

  /** Records backward from `loss`, which the module exports. Messages of errors are for the visitor. */
  async record(code: string): Promise<Recording> {
    try {
      const exported = await importCode(code);
      const losses = lossesOf(exported);
      return await recordingOf(losses, leafNames(exported));
    } catch (error) {
      throw new Error(textOf(error));
    }
  }
}

function lossesOf({ loss }: Readonly<Record<string, unknown>>): eg.Tensor[] {
  const losses = Array.isArray(loss) ? loss : [loss];
  if (
    losses.every((loss) => loss instanceof eg.Tensor && loss.gradFn !== null) &&
    losses.length > 0
  ) {
    return losses;
  }
  throw new Error(
    'Export the tensor on which to call backward: "export const loss = …", computed from a tensor with requiresGrad, ' +
      "or a list of such tensors.",
  );
}

async function recordingOf(
  losses: readonly eg.Tensor[],
  names: ReadonlyMap<eg.Node, string>,
): Promise<Recording> {
  const rootNodes = losses.map(({ gradFn }) => gradFn as eg.Node);
  const { ids, edges } = walk(rootNodes);
  const described: Omit<GraphNode, "gradients">[] = [];
  for (const node of ids.keys()) described.push(await describeNode(node, names));
  const rehearsal = rehearse(losses, ids);
  const roots = rootNodes.map((node) => ids.get(node) as number);
  const runs = runsOf(await record(losses), ids, roots, rehearsal);
  const nodes = described.map((node, id) => ({
    ...node,
    gradients: rehearsal.gradients.get(id) ?? [],
  }));
  const together = losses.length === 1 || canRunTogether();
  return { nodes, edges, roots, runs, layout: layOut(nodes.map(linesOf), edges), together };
}

function textOf(error: unknown): string {
  if (!(error instanceof CodeError)) return errorText(error);
  const text = errorText(error.cause);
  return error.line === null ? text : `line ${error.line}: ${text}`;
}

export type { EngineRoom };

expose(new EngineRoom());
