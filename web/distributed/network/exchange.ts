// The collective operations on pieces, each of which fits into a message. Every rank sends to every other: through one server, a ring would
// cost the same bytes, but 2 (n - 1) messages in sequence instead of one or two.

import type { CollectiveRequest } from "../requests.js";
import { bytesOf, type Elements, elementsOf, reduce } from "./arrays.js";
import type { OperationKey } from "./message.js";
import type { Window } from "./window.js";

/** The maximum bytes of elements in a message. */
export const kPieceBytes = 256 * 1024;
// Below this size, one message with all elements is faster than two with parts.
const kSmallBytes = 8 * 1024;

/** What an operation needs from the network. */
export interface Peers {
  readonly rank: number;
  readonly worldSize: number;
  /** Sends elements to a rank. */
  send(to: number, piece: number, step: number, elements: Elements): void;
  /** Resolves to the elements that a rank has sent. */
  receive(from: number, piece: number, step: number, length: number): Promise<Elements>;
}

/** A range of elements: from `start` to before `end`. */
type Span = readonly [start: number, end: number];

/** Runs an operation on the memory of a request. */
export async function runCollective(
  request: CollectiveRequest,
  operation: OperationKey,
  peers: Peers,
  window: Window,
): Promise<void> {
  const { length } = operation;
  const { worldSize } = peers;
  const most = kPieceBytes / bytesOf(request.dtype);
  const work: (() => Promise<void>)[] = [];
  const add = (run: (piece: number) => Promise<void>) => {
    const piece = work.length;
    work.push(() => window.run(() => run(piece)));
  };
  if (request.kind === "allReduce") {
    const isWhole = worldSize === 2 || length * bytesOf(request.dtype) <= kSmallBytes;
    const size = isWhole ? most : most * worldSize;
    const reduce = isWhole ? allReduceWhole : allReduceInParts;
    for (const span of spansOf([0, length], size)) {
      add((piece) => reduce(request, peers, piece, span));
    }
  } else if (request.kind === "broadcast") {
    for (const span of spansOf([0, length], most)) {
      add((piece) => broadcast(request, peers, piece, span));
    }
  } else {
    const share = length / worldSize;
    const run = request.kind === "allGather" ? allGather : reduceScatter;
    for (const span of spansOf([0, share], most)) {
      add((piece) => run(request, peers, piece, span, share));
    }
  }
  await Promise.all(work.map((run) => run()));
}

function spansOf([start, end]: Span, size: number): Span[] {
  const spans: Span[] = [];
  for (let at = start; at < end; at += size) spans.push([at, Math.min(end, at + size)]);
  return spans;
}

const othersOf = ({ rank, worldSize }: Peers) =>
  Array.from({ length: worldSize }, (_, i) => i).filter((other) => other !== rank);

const viewOf = ({ dtype, data }: CollectiveRequest, [start, end]: Span) =>
  elementsOf(dtype, data, start, end);

// Sends the same elements to all ranks, and returns those of all ranks in order.
async function exchange(
  peers: Peers,
  piece: number,
  step: number,
  ours: Elements,
): Promise<Elements[]> {
  const parts: Elements[] = [];
  parts[peers.rank] = ours;
  for (const to of othersOf(peers)) peers.send(to, piece, step, ours);
  await Promise.all(
    othersOf(peers).map(async (from) => {
      parts[from] = await peers.receive(from, piece, step, ours.length);
    }),
  );
  return parts;
}

async function allReduceWhole(
  request: CollectiveRequest,
  peers: Peers,
  piece: number,
  span: Span,
): Promise<void> {
  const ours = viewOf(request, span);
  setAll(ours, reduce(await exchange(peers, piece, 0, ours), request.reduction));
}

// Each rank reduces one part, and sends the result to all.
async function allReduceInParts(
  request: CollectiveRequest,
  peers: Peers,
  piece: number,
  [start, end]: Span,
): Promise<void> {
  const { rank, worldSize } = peers;
  const edge = (i: number) => start + Math.floor(((end - start) * i) / worldSize);
  const partOf = (i: number) => viewOf(request, [edge(i), edge(i + 1)]);
  for (const to of othersOf(peers)) peers.send(to, piece, 0, partOf(to));
  const ours = await reducedOf(request, peers, piece, partOf(rank));
  setAll(partOf(rank), ours);
  for (const to of othersOf(peers)) peers.send(to, piece, 1, ours);
  await Promise.all(
    othersOf(peers).map(async (from) => {
      const part = partOf(from);
      setAll(part, await peers.receive(from, piece, 1, part.length));
    }),
  );
}

// Reduces the elements that all ranks have sent to this one.
async function reducedOf(
  { reduction }: CollectiveRequest,
  peers: Peers,
  piece: number,
  ours: Elements,
): Promise<Elements> {
  const parts: Elements[] = [];
  parts[peers.rank] = ours;
  await Promise.all(
    othersOf(peers).map(async (from) => {
      parts[from] = await peers.receive(from, piece, 0, ours.length);
    }),
  );
  return reduce(parts, reduction);
}

async function reduceScatter(
  request: CollectiveRequest,
  peers: Peers,
  piece: number,
  [start, end]: Span,
  share: number,
): Promise<void> {
  const partOf = (i: number) => viewOf(request, [i * share + start, i * share + end]);
  for (const to of othersOf(peers)) peers.send(to, piece, 0, partOf(to));
  const ours = partOf(peers.rank);
  setAll(ours, await reducedOf(request, peers, piece, ours));
}

async function allGather(
  request: CollectiveRequest,
  peers: Peers,
  piece: number,
  [start, end]: Span,
  share: number,
): Promise<void> {
  const partOf = (i: number) => viewOf(request, [i * share + start, i * share + end]);
  const parts = await exchange(peers, piece, 0, partOf(peers.rank));
  for (const from of othersOf(peers)) setAll(partOf(from), parts[from] as Elements);
}

// The root waits for the others, so that it does not send faster than they receive.
async function broadcast(
  request: CollectiveRequest,
  peers: Peers,
  piece: number,
  span: Span,
): Promise<void> {
  const part = viewOf(request, span);
  const { root } = request;
  if (peers.rank === root) {
    for (const to of othersOf(peers)) peers.send(to, piece, 0, part);
    await Promise.all(othersOf(peers).map((from) => peers.receive(from, piece, 1, 0)));
  } else {
    setAll(part, await peers.receive(root, piece, 0, part.length));
    peers.send(root, piece, 1, part.subarray(0, 0));
  }
}

// Both have the dtype of the request.
function setAll(target: Elements, elements: Elements): void {
  (target as Float64Array).set(elements as Float64Array);
}
