// All names of a run in NATS.

/** The names of a run. */
export interface RunNames {
  readonly bucket: string;
  /** The prefix of the subjects of answers, which permissions can name. */
  readonly replies: string;
  /** The subject on which members announce that they are alive. */
  readonly alive: string;
  /** The subject on which a member announces that it cannot continue. */
  readonly failed: string;
  /** The subject on which a member announces that it has written the record. */
  readonly changed: string;
  /** The subject of messages to a member. */
  inboxOf(id: string): string;
}

/** The key of a run's record. */
export const kRecordKey = "group";

/** Returns the names of a run. */
export function namesOf(run: string): RunNames {
  const prefix = `edgegrad-distributed.${run}`;
  return {
    bucket: `edgegrad-distributed-${run}`,
    replies: `_INBOX_edgegrad-distributed-${run}`,
    alive: `${prefix}.alive`,
    failed: `${prefix}.failed`,
    changed: `${prefix}.changed`,
    inboxOf: (id) => `${prefix}.to.${id}`,
  };
}
