// The rows of a profile.

/** The time of one op, layer or thread. */
export interface TimeRow {
  /** The op, layer or thread. */
  readonly name: string;
  /** The number of its events. */
  readonly calls: number;
  /** Their total time in milliseconds. */
  readonly time: number;
  /** Their fraction of the time of all events, from 0 to 1. */
  readonly share: number;
}
