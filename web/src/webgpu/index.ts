// The player of the WebGPU device: a separate chunk, loaded by the thread that owns the device.

export { type AdapterDescription, type OpenDevice, openDevice } from "./device";
export type { PlayerError } from "./errors";
export type { SupportedDTypes } from "./kernels/kernel";
export { supported, supportedFormulas } from "./kernels/table";
export { Player, type PlayerStats } from "./player";
export type { Host } from "./readback";
export { start } from "./start";
