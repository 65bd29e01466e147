// What an operator has to know at once, as events and as lines of a log.

/** What has happened in a run, as a word. */
export type RunEventType =
  | "standby" // another coordinator leads
  | "leading" // this coordinator leads from now on
  | "deposed" // another one has taken over, or the lease could not be renewed
  | "waiting" // a round cannot begin yet: there are too few clients
  | "stalled" // the same, for longer than a deadline; or a round waits for clients that are silent
  | "paused" // an operator has paused the run
  | "stopped" // an operator has stopped the run
  | "opened" // a round has begun
  | "refused" // an update or a client was refused
  | "extended" // a round goes on after its deadline, because there are too few updates
  | "givenUp" // a round has ended without new weights, and is opened again
  | "closed" // a round has ended with new weights
  | "rolledOut" // a revision is given to a share of the clients, or to another share
  | "promoted" // that revision is the run's own from now on
  | "withdrawn" // no client trains that revision any more
  | "rolloutRefused" // a revision cannot be rolled out
  | "storeFailed" // the server does not store anything at the moment; it is asked again until it does
  | "storeRecovered" // the server stores again
  | "finished"; // the run has finished

/** Something that has happened in a run. */
export interface RunEvent {
  /** What has happened. */
  readonly type: RunEventType;
  /** "warning" if somebody may have to act. */
  readonly level: "info" | "warning";
  /** The name of the run. */
  readonly run: string;
  /** The number of the round, from 1. */
  readonly round: number;
  /** What has happened, as a sentence. */
  readonly message: string;
  /** The client, for "refused". */
  readonly client?: string | undefined;
  /** The reason as a word, for "refused". */
  readonly reason?: string | undefined;
  /** The number of updates that are counted, for "extended" and "givenUp". */
  readonly updates?: number | undefined;
}

const kWarnings: ReadonlySet<RunEventType> = new Set([
  "deposed",
  "stalled",
  "refused",
  "extended",
  "givenUp",
  "rolloutRefused",
  "storeFailed",
]);

// Refusals that happen in every run with slow clients or a server that was away.
const kUsualReasons: ReadonlySet<string> = new Set(["late", "repeated", "unselected"]);

/** Reports the events of one run. */
export class Reporter {
  #isStoreFailing = false;

  constructor(
    readonly run: string,
    private readonly heard: ((event: RunEvent) => void) | undefined,
    private readonly round: () => number,
  ) {}

  /** Reports an event; without a listener, warnings are written to the console. */
  tell(
    type: RunEventType,
    message: string,
    more: Pick<RunEvent, "client" | "reason" | "updates"> = {},
  ): void {
    const isUsual = kUsualReasons.has(more.reason ?? "");
    const level = kWarnings.has(type) && !isUsual ? "warning" : "info";
    const event: RunEvent = { type, level, run: this.run, round: this.round(), message, ...more };
    if (this.heard !== undefined) this.heard(event);
    else if (level === "warning") console.warn(lineOf(event));
  }

  /** Reports that the server does not store, once until it does again. */
  storeFailed(error: unknown): void {
    if (this.#isStoreFailing) return;
    this.#isStoreFailing = true;
    const reason = error instanceof Error && error.message !== "" ? error.message : String(error);
    this.tell(
      "storeFailed",
      `the server does not store: ${reason}. It is asked again until it does.`,
    );
  }

  /** Reports that the server stores, if it did not. */
  storeWorks(): void {
    if (!this.#isStoreFailing) return;
    this.#isStoreFailing = false;
    this.tell("storeRecovered", "the server stores again.");
  }
}

/** Returns an event as a line of a log. */
export function lineOf({ type, run, round, client, message }: RunEvent): string {
  const about = client === undefined ? "" : ` client=${client}`;
  return `edgegrad run=${run} round=${round} event=${type}${about}: ${message}`;
}
