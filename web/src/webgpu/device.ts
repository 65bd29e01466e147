// Asking for a device that can do all that its adapter can.

/** A device, and what it runs on. */
export interface OpenDevice {
  readonly device: GPUDevice;
  readonly adapter: AdapterDescription;
}

export interface AdapterDescription {
  readonly vendor: string;
  readonly architecture: string;
  readonly description: string;
  /** Computes on the CPU. */
  readonly isFallback: boolean;
  readonly features: readonly string[];
  readonly maxBufferBytes: number;
  /** The largest memory that a kernel can see. */
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

/** Undefined where there is no adapter. */
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
