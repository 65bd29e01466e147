// Opens a device with all the features and limits of its adapter that the player uses.

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

const kLimits = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupStorageSize",
] as const;

const kFeatures = ["timestamp-query", "shader-f16", "subgroups"] as const;

/** Requests a device; returns undefined if there is no adapter. */
export async function openDevice(gpu: GPU): Promise<OpenDevice | undefined> {
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) return undefined;
  const { limits, info } = adapter;
  const features = kFeatures.filter((feature) => adapter.features.has(feature));
  const device = await adapter.requestDevice({
    requiredLimits: Object.fromEntries(kLimits.map((name) => [name, limits[name]])),
    requiredFeatures: features as readonly GPUFeatureName[] as GPUFeatureName[],
  });
  const description = {
    vendor: info.vendor,
    architecture: info.architecture,
    description: info.description,
    isFallback: info.isFallbackAdapter === true,
    features,
    maxBufferBytes: limits.maxBufferSize,
    maxBindingBytes: limits.maxStorageBufferBindingSize,
  };
  return { device, adapter: description };
}
