// The runs of a server as an operator sees them.

import type { Credentials } from "../nats/connection.js";
import type { RunRecord } from "./record.js";
import type { TrainConfig } from "./rollout.js";

/** Where runs are. */
export interface RunsOptions {
  /** Addresses of NATS servers: nats:, tls:, ws: or wss:. */
  readonly servers: string | readonly string[];
  /** The credentials of a coordinator; default: none. */
  readonly credentials?: Credentials | undefined;
}

/** Where a run is. */
export interface RunOptions extends RunsOptions {
  /** The name of the run. */
  readonly run: string;
}

/** Options of `deleteRun`. */
export interface DeleteRunOptions extends RunOptions {
  /** Delete the run although a coordinator leads it, or has been killed without giving that up. Default false. */
  readonly force?: boolean | undefined;
}

/** Options of `rollBackRun`. */
export interface RollBackOptions extends DeleteRunOptions {
  /** The round after which the run is continued: one of `keptRounds`, or "best" for `bestRound`. */
  readonly round: number | "best";
}

/** Options of `rollOutRun`. */
export interface RollOutOptions extends RunOptions {
  /** The name of the revision: 1 to 64 letters, digits, hyphens and underscores. */
  readonly revision: string;
  /** The share of the clients that train it, above 0. The same clients do when it grows; 1 makes the revision the run's own. */
  readonly share: number;
  /** The `config` that train() receives, of values that JSON has; default: the config of the run. */
  readonly config?: TrainConfig | undefined;
  /** The bytes of a safetensors file with the weights to begin with; default: those of the run. */
  readonly weights?: Uint8Array | undefined;
}

/** A run on a server. */
export interface RunStatus extends Pick<RunRecord, "state" | "round" | "rounds" | "strategy"> {
  /** The name of the run. */
  readonly run: string;
  /** Whether rounds do not begin ("paused"), or coordinators end after the round ("stopped"). */
  readonly control: "running" | "paused" | "stopped";
  /** The name of the coordinator that leads, or that was killed while it did; null if there is none. */
  readonly leader: string | null;
  /** The clients of the open round. */
  readonly clients: readonly string[];
  /** The name of the revision of the run's weights; "" for the one with which it has begun. */
  readonly revision: string;
  /** The revision that a share of the clients trains; null if there is none. */
  readonly rollout: {
    /** The name of the revision. */
    readonly revision: string;
    /** The share of the clients that train it, from 0 to 1. */
    readonly share: number;
  } | null;
  /** The rounds whose weights are kept, for `rollBackRun`. */
  readonly keptRounds: readonly number[];
  /** The best of them by the metric of serve({ keepBest }); null if there is none. */
  readonly bestRound: number | null;
  /** The bytes that the server stores for the run. */
  readonly bytes: number;
}
