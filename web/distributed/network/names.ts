// Where a run is in NATS: every name is made here.

/** The names of a run. */
export interface RunNames {
  readonly bucket: string;
  /** The subject on which members say that they are there. */
  readonly alive: string;
  /** The subject on which a member tells that it cannot go on. */
  readonly failed: string;
  /** The subject on which a member tells that it has written the record. */
  readonly changed: string;
  /** The subject of what is sent to a member. */
  inboxOf(id: string): string;
}

/** The key of a run's record. */
export const kRecordKey = "group";

/** Returns the names of a run. */
export function namesOf(run: string): RunNames {
  const prefix = `edgegrad-distributed.${run}`;
  return {
    bucket: `edgegrad-distributed-${run}`,
    alive: `${prefix}.alive`,
    failed: `${prefix}.failed`,
    changed: `${prefix}.changed`,
    inboxOf: (id) => `${prefix}.to.${id}`,
  };
}
