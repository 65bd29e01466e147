// Opens a device with all the features and limits of its adapter that the player uses, or checks one that the page has.

import { describe } from "../runtime/errors/errors.js";
import { startTimeout, type Timers } from "../runtime/host/timeout.js";

/** A device, with a description of its adapter. */
export interface OpenDevice {
  readonly device: GPUDevice;
  readonly adapter: AdapterDescription;
}

export interface AdapterDescription {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  /** Whether the adapter computes on the CPU. */
  readonly isFallback: boolean;
  readonly features: readonly string[];
  readonly maxBufferBytes: number;
  /** The largest memory that a kernel can bind. */
  readonly maxBindingBytes: number;
}

/** What the program passed to init() cannot be used. */
export class Refusal extends Error {}

// What kernels need at least, which every device of WebGPU's core has; the adapter's own limits are requested.
const kLimits = {
  maxBufferSize: 2 ** 28,
  maxStorageBufferBindingSize: 2 ** 27,
  maxStorageBuffersPerShaderStage: 8,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupStorageSize: 2 ** 14,
} as const;

type LimitName = keyof typeof kLimits;

const kLimitNames = Object.keys(kLimits) as LimitName[];

const kFeatures = ["timestamp-query", "shader-f16", "subgroups"] as const;

const kAdapterMethods = ["requestDevice"] as const;
const kDeviceMethods = [
  "createBindGroup",
  "createBuffer",
  "createCommandEncoder",
  "createComputePipeline",
  "destroy",
  "popErrorScope",
  "pushErrorScope",
] as const;

/** A browser that opens no device within this time will not. */
const kAnswerTime = 30_000; // ms

/** Requests a device; returns undefined if there is no adapter. Throws a Refusal if the answer is not a device. */
export async function openDevice(gpu: GPU, timers?: Timers): Promise<OpenDevice | undefined> {
  const adapter = await answerInTime(
    "requestAdapter",
    gpu.requestAdapter({ powerPreference: "high-performance" }),
    timers,
  );
  if (adapter === null) return undefined;
  const name = "gpu: what its requestAdapter() resolves to";
  checkMembers(name, "a GPUAdapter", adapter, kAdapterMethods);
  const { limits, info } = adapter;
  const features = featuresOf(adapter);
  const device = await answerInTime(
    "requestDevice",
    adapter.requestDevice({
      requiredLimits: Object.fromEntries(kLimitNames.map((limit) => [limit, limits[limit]])),
      requiredFeatures: features as readonly GPUFeatureName[] as GPUFeatureName[],
    }),
    timers,
    (late) => late.destroy(),
  );
  const deviceName = "gpu: what requestDevice() of its adapter resolves to";
  checkDevice(deviceName, device);
  return { device, adapter: descriptionOf(info, features, limits) };
}

/** Checks that a device of the page has all that the player needs; throws a Refusal that names what it lacks. */
export async function adoptDevice(device: GPUDevice): Promise<OpenDevice> {
  checkDevice("webgpu.device", device);
  const { limits } = device;
  const lacking = kLimitNames.filter((limit) => limits[limit] < kLimits[limit]);
  if (lacking.length > 0) {
    const texts = lacking.map((limit) => `${limit} of ${limits[limit]} (${kLimits[limit]} needed)`);
    throw new Refusal(
      `webgpu.device: the device has a ${texts.join(" and a ")}. Request it with these requiredLimits.`,
    );
  }
  const loss = await Promise.race([device.lost, undefined]);
  if (loss !== undefined)
    throw new Refusal(
      `webgpu.device: the device is lost (${loss.message || loss.reason}). Pass another one.`,
    );
  const features = featuresOf(device);
  return { device, adapter: descriptionOf(device.adapterInfo, features, limits) };
}

function featuresOf({ features }: { readonly features: GPUSupportedFeatures }): string[] {
  return kFeatures.filter((feature) => features.has(feature));
}

// Older browsers do not tell about the adapter.
function descriptionOf(
  info: GPUAdapterInfo | undefined,
  features: readonly string[],
  { maxBufferSize, maxStorageBufferBindingSize }: GPUSupportedLimits,
): AdapterDescription {
  return {
    vendor: info?.vendor ?? "",
    architecture: info?.architecture ?? "",
    description: info?.description ?? "",
    isFallback: info?.isFallbackAdapter === true,
    features,
    maxBufferBytes: maxBufferSize,
    maxBindingBytes: maxStorageBufferBindingSize,
  };
}

function checkDevice(name: string, device: GPUDevice): void {
  checkMembers(name, "a GPUDevice", device, kDeviceMethods);
  if (typeof device.queue?.submit !== "function" || typeof device.lost?.then !== "function")
    throw new Refusal(
      `${name}: expected a GPUDevice, got ${describe(device)} without queue or lost.`,
    );
}

function checkMembers(
  name: string,
  what: string,
  found: GPUAdapter | GPUDevice,
  methods: readonly string[],
): void {
  const refuse = (detail: string): never => {
    throw new Refusal(`${name}: expected ${what}, got ${describe(found)}${detail}.`);
  };
  if (typeof found !== "object" || found === null) refuse("");
  const members = found as unknown as Record<string, unknown>;
  const missing = methods.filter((method) => typeof members[method] !== "function");
  if (missing.length > 0) refuse(` without ${missing[0]}()`);
  if (typeof found.features?.has !== "function") refuse(" without features");
  const unlimited = kLimitNames.filter((limit) => typeof found.limits?.[limit] !== "number");
  if (unlimited.length > 0) refuse(` without limits.${unlimited[0]}`);
}

// Rejects if there is no answer in time; one that comes later is discarded.
async function answerInTime<T>(
  name: string,
  answer: Promise<T>,
  timers: Timers | undefined,
  discard?: (late: T) => void,
): Promise<T> {
  let isLate = false;
  let stop = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => {
      isLate = true;
      reject(
        new Error(
          `WebGPU's ${name}() has not answered within ${kAnswerTime / 1000} s: restart the browser, or compute on the CPU.`,
        ),
      );
    };
    stop = startTimeout(kAnswerTime, giveUp, timers);
  });
  const given = Promise.resolve(answer);
  given.then((value) => isLate && discard?.(value)).catch(() => undefined);
  return await Promise.race([given, late]).finally(stop);
}
