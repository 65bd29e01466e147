// edgegrad/distributed: data-parallel training by several Node processes, on one machine or on several, with NATS between them.

export type { Credentials } from "../nats/connection.js";
export { broadcastObject } from "./collectives/objects.js";
export {
  type AllReduceOptions,
  allGather,
  allReduce,
  type BroadcastOptions,
  barrier,
  broadcast,
  type CollectiveOptions,
  reduceScatter,
} from "./collectives/tensors.js";
export {
  DistributedDataParallel,
  type DistributedDataParallelOptions,
} from "./data_parallel/distributed_data_parallel.js";
export { DistributedSampler, type DistributedSamplerOptions } from "./data_parallel/sampler.js";
export type { ProcessGroupOptions } from "./group/options.js";
export { initProcessGroup, ProcessGroup, type Traffic } from "./group/process_group.js";
export type { Reduction } from "./requests.js";
