// What a profile says of one op, layer or thread.

/** The time of one op, layer or thread. */
export interface TimeRow {
  /** The op, layer or thread. */
  readonly name: string;
  /** The number of its events. */
  readonly calls: number;
  /** Their time in milliseconds. */
  readonly time: number;
  /** The share of the time of all events, from 0 to 1. */
  readonly share: number;
}
