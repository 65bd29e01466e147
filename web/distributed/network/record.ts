// The record of a group: its members. Each change is one write, which names the revision that was read.

/** A member of a group. */
export interface Member {
  readonly id: string;
  /** The rank that the process requests, or its rank once the record is complete; null: any. */
  readonly rank: number | null;
  /** The last generation that the process belonged to, and its rank there; 0 and null if there was none. */
  readonly past: number;
  readonly pastRank: number | null;
}

/** The record of a group. */
export interface GroupRecord {
  readonly format: 1;
  /** The number of times that the group was formed. */
  readonly generation: number;
  /** The maximum number of members. */
  readonly worldSize: number;
  /** Whether all members have joined. Members that leave a complete group are removed. */
  readonly isComplete: boolean;
  /** The number of members when the group became complete; 0 before. */
  readonly size: number;
  readonly members: readonly Member[];
}

/** Parses a record; throws a SyntaxError if the text is not a record. */
export function parseRecord(text: string): GroupRecord {
  const record = JSON.parse(text) as GroupRecord | null;
  const { format, generation, worldSize, size, members } = record ?? ({} as Partial<GroupRecord>);
  const isSound =
    format === 1 &&
    Number.isSafeInteger(generation) &&
    Number.isSafeInteger(worldSize) &&
    Number.isSafeInteger(size) &&
    Array.isArray(members) &&
    members.every((member) => typeof member?.id === "string");
  if (!isSound) throw new SyntaxError("not the record of a group");
  return record as GroupRecord;
}

/** The next action of a process that wants to join a group. */
export type Move =
  | { readonly type: "write"; readonly record: GroupRecord }
  | { readonly type: "wait"; readonly why: string }
  | { readonly type: "begin"; readonly record: GroupRecord };

/** The allowed sizes of a group. */
export interface Sizes {
  /** The maximum number of members. */
  readonly worldSize: number;
  /** The minimum number of members, with which it begins when no more have joined for a while. */
  readonly minWorldSize: number;
}

/**
 * Returns the next action of a process that has read `record`, which is null if there is no record yet. `isSilent` is true for members that
 * have been silent for so long that they are considered lost; `isLastCall` is true if the minimum number of members have been present for
 * long enough.
 */
export function nextMove(
  record: GroupRecord | null,
  self: Member,
  { worldSize, minWorldSize }: Sizes,
  isSilent: (id: string) => boolean,
  isLastCall: boolean,
): Move {
  if (record === null) return write(1, worldSize, [self]);
  const { generation, isComplete, members } = record;
  const others = members.filter(({ id }) => id !== self.id);
  const present = others.filter(({ id }) => !isSilent(id));
  const isMember = others.length < members.length;
  if (isComplete) {
    if (isMember && generation > self.past) return { type: "begin", record };
    const isWhole = present.length === record.size && record.size === record.worldSize;
    // A full group continues without this process. A smaller one is formed again.
    if (!isMember && isWhole) return wait(`the run has its ${worldSize} processes already`);
    return write(generation + 1, worldSize, [self]);
  }
  if (record.worldSize !== worldSize && present.length > 0) {
    return wait(`other processes of the run ask for a world size of ${record.worldSize}`);
  }
  const rival = present.find(({ rank }) => rank !== null && rank === self.rank);
  if (!isMember && rival !== undefined) return wait(`another process is rank ${self.rank}`);
  if (isMember && present.length === others.length) {
    if (isLastCall && members.length >= minWorldSize) {
      return write(generation, worldSize, members, true);
    }
    return wait(`${members.length} of ${worldSize} processes are there`);
  }
  return write(generation, worldSize, [...present, self]);
}

const wait = (why: string): Move => ({ type: "wait", why });

function write(
  generation: number,
  worldSize: number,
  members: readonly Member[],
  isComplete = members.length === worldSize,
): Move {
  const placed = isComplete ? withRanks(members) : members;
  const size = isComplete ? members.length : 0;
  return {
    type: "write",
    record: { format: 1, generation, worldSize, isComplete, size, members: placed },
  };
}

// Requested ranks are assigned first, then previous ranks; the others get the remaining ranks in the order in which they joined.
function withRanks(members: readonly Member[]): Member[] {
  const taken = new Map<number, Member>();
  const place = (rank: number | null, member: Member) => {
    if (rank === null || rank >= members.length || taken.has(rank)) return;
    if (![...taken.values()].includes(member)) taken.set(rank, member);
  };
  for (const member of members) place(member.rank, member);
  const byAge = [...members].sort((a, b) => b.past - a.past);
  for (const member of byAge) place(member.pastRank, member);
  for (const member of members) {
    for (let rank = 0; rank < members.length; rank++) place(rank, member);
  }
  return Array.from(members, (_, rank) => ({ ...(taken.get(rank) as Member), rank }));
}

/** The rank whose process has been in the group for the longest time, from which the others copy the training state. */
export function sourceOf({ members }: GroupRecord): number {
  const latest = Math.max(...members.map(({ past }) => past));
  return members.find(({ past }) => past === latest)?.rank ?? 0;
}
