// Backward from one or several tensors: first a rehearsal with a hook on every node, then a recording without hooks.

import * as eg from "edgegrad";
import { makeGate, openGate, untilArrived, waitUntilDone } from "./gate.js";
import { shapeText } from "./graph.js";
import type { Run } from "./recording.js";

const kAccumulate = "AccumulateGrad";

type Ids = ReadonlyMap<eg.Node, number>;

/** What the hooks of the rehearsal received. */
export interface Rehearsal {
  /** For each pass, the nodes in the order in which they ran. */
  readonly orders: readonly (readonly number[])[];
  /** For each node, the shapes of its incoming gradients. */
  readonly gradients: ReadonlyMap<number, string[]>;
}

/** Runs each pass once, with hooks, and clears the gradients afterwards. */
export function rehearse(losses: readonly eg.Tensor[], ids: Ids): Rehearsal {
  let order: number[] = [];
  const gradients = new Map<number, string[]>();
  const hooks = [...ids].map(([node, id]) =>
    node.registerPrehook((grads) => {
      order.push(id);
      gradients.set(
        id,
        grads.map((grad) => (grad === null ? "none" : shapeText(grad.shape))),
      );
    }),
  );
  try {
    const orders = losses.map((loss) => {
      order = [];
      loss.backward(null, { retainGraph: true });
      return order;
    });
    return { orders, gradients };
  } finally {
    for (const hook of hooks) hook.remove();
    for (const { variable } of ids.keys()) if (variable !== null) variable.grad = null;
  }
}

/** Records all passes: each on its own thread if there are threads, otherwise one after the other. */
export async function record(losses: readonly eg.Tensor[]): Promise<eg.autograd.ProfileEvent[]> {
  const [first, ...others] = losses as [eg.Tensor, ...eg.Tensor[]];
  if (others.length === 0) return eg.autograd.profile(() => first.backward()).events;
  if (!canRunTogether()) {
    return eg.autograd.profile(() => {
      for (const loss of losses) loss.backward(null, { retainGraph: true });
    }).events;
  }
  const gate = makeGate();
  const workers = others.map(
    () => new Worker(new URL("./second_thread.ts", import.meta.url), { type: "module" }),
  );
  const jobs = others.map((loss, i) => eg.spawn(workers[i] as Worker, "backward", loss, gate));
  try {
    await Promise.race([untilArrived(gate, others.length), Promise.all(jobs)]);
    const { events } = eg.autograd.profile(() => {
      openGate(gate);
      first.backward(null, { retainGraph: true });
      waitUntilDone(gate, others.length);
    });
    await Promise.all(jobs);
    return events;
  } finally {
    for (const worker of workers) worker.terminate();
  }
}

/** True if several passes can run at the same time. */
export function canRunTogether(): boolean {
  return eg.runtime().variant !== "single";
}

/**
 * Finds the node of each event, by name and sequence number. All AccumulateGrad nodes have the same name and number; those of one
 * pass on one device are matched by the order in which they ran in the rehearsal.
 */
export function runsOf(
  events: readonly eg.autograd.ProfileEvent[],
  ids: Ids,
  roots: readonly number[],
  { orders }: Rehearsal,
): Run[] {
  const nodes = [...ids.keys()];
  const byNumber = new Map(
    nodes.filter(({ variable }) => variable === null).map((node) => [keyOf(node), node]),
  );
  const accumulators = orders.map((order) =>
    order.filter((id) => (nodes[id] as eg.Node).variable !== null),
  );
  const deviceOf = (id: number) => nodes[id]?.variable?.device;
  const passOfThread = new Map<number, number>();
  return events.flatMap((event) => {
    const node = byNumber.get(keyOf(event));
    const known = node && ids.get(node);
    if (known !== undefined && roots.includes(known)) {
      passOfThread.set(event.thread, roots.indexOf(known));
    }
    const pass = passOfThread.get(event.thread) ?? 0;
    const waiting = accumulators[pass] ?? [];
    const next = waiting.find((id) => deviceOf(id) === event.device);
    const id = known ?? (event.name === kAccumulate ? next : undefined);
    // A node of another graph, because a Function may call backward itself.
    if (id === undefined) return [];
    if (id === next) waiting.splice(waiting.indexOf(id), 1);
    const { thread, device, start, duration, deviceDuration } = event;
    return [{ node: id, pass, thread, device, start, duration, deviceDuration }];
  });
}

function keyOf({ name, sequenceNr }: { name: string; sequenceNr: number }): string {
  return `${name} ${sequenceNr}`;
}
