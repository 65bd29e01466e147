// edgegrad/federated: training on many devices that keep their data, with NATS JetStream between them.

export type { Credentials } from "../nats/connection.js";
export { Client, join } from "./client/client.js";
export type {
  ClientRound,
  JoinOptions,
  Refused,
  TrainInput,
  TrainResult,
} from "./client/options.js";
export type { Coordinator } from "./coordinator/coordinator.js";
export type { RunEvent, RunEventType } from "./coordinator/events.js";
export type { History } from "./coordinator/history.js";
export type {
  EvaluateInput,
  KeepBest,
  Limits,
  RoundFailure,
  ServeOptions,
} from "./coordinator/options.js";
export { MemoryNetwork } from "./memory/network.js";
export { RdpAccountant } from "./privacy/accountant.js";
export type { Privacy } from "./privacy/noise.js";
export type { RolloutSummary, RoundSummary } from "./record.js";
export type { TrainConfig } from "./rollout.js";
export type {
  DeleteRunOptions,
  RollBackOptions,
  RollOutOptions,
  RunOptions,
  RunStatus,
  RunsOptions,
} from "./run_status.js";
export {
  deleteRun,
  listRuns,
  pauseRun,
  resumeRun,
  rollBackRun,
  rollOutRun,
  stopRun,
  withdrawRollout,
} from "./runs.js";
export type { SecureAggregation } from "./secure/settings.js";
export { serve } from "./serve.js";
export { type AdaptiveOptions, FedAdam, FedYogi } from "./strategies/adaptive.js";
export { FedAvg, FedProx } from "./strategies/averaging.js";
export { DiLoCo, type DiLoCoOptions } from "./strategies/diloco.js";
export { Krum, Median, TrimmedMean } from "./strategies/robust.js";
export { Scaffold, type ScaffoldOptions } from "./strategies/scaffold.js";
export { meanOf, Strategy, type Update } from "./strategies/strategy.js";
export type { Compression } from "./update/compression.js";
