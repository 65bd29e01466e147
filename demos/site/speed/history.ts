// The entries of tests/bench/history.jsonl, by machine and workload.

/** One row of one run; figures are in `unit`, `ratio` is how many times better ours is than the best peer's. */
export interface Entry {
  readonly date: string;
  readonly commit: string;
  readonly dirty: boolean;
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  readonly load: number;
  readonly bench: string;
  readonly benchTitle: string;
  readonly row: string;
  readonly rowTitle: string;
  readonly unit: string;
  readonly better: "higher" | "lower";
  readonly ours: number;
  readonly peers: Readonly<Record<string, number>>;
  readonly ratio: number | null;
}

/** The entries in a file, the oldest first. */
export function parseHistory(text: string): Entry[] {
  const lines = text.split("\n").filter((line) => line !== "");
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  return entries.sort((a, b) => Date.parse(a.date) - Date.parse(b.date));
}

/** What figures have to share to be comparable. */
export function machineOf({ cpu, cores, node }: Entry): string {
  return `${cpu}, ${cores} cores, Node ${node}`;
}

/** Groups entries by a key; groups are in the order of their newest entries, the newest first. */
export function groupBy(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries.toReversed()) {
    const group = groups.get(keyOf(entry));
    if (group) group.unshift(entry);
    else groups.set(keyOf(entry), [entry]);
  }
  return groups;
}

/** How much better a figure is than an earlier one, in percent; below 0 it is worse. */
export function improvement(now: Entry, before: Entry): number {
  const factor = now.better === "higher" ? now.ours / before.ours : before.ours / now.ours;
  return (factor - 1) * 100;
}

/** The best figure of another library, and whose it is; null where there is none. */
export function bestPeer({ peers, better }: Entry): { name: string; figure: number } | null {
  const all = Object.entries(peers).sort(([, a], [, b]) => (better === "higher" ? b - a : a - b));
  const [first] = all;
  return first ? { name: first[0], figure: first[1] } : null;
}
