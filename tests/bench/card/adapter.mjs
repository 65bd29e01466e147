// The adapter that is measured: its names, features and limits, as pairs of a title and a text.

const kLimits = {
  maxBufferSize: "largest buffer",
  maxStorageBufferBindingSize: "largest binding",
  maxComputeWorkgroupStorageSize: "memory of a workgroup",
  maxComputeInvocationsPerWorkgroup: "invocations of a workgroup",
  maxStorageBuffersPerShaderStage: "storage buffers of a shader",
};

/** The features that concern computing. */
const kComputing = /shader|subgroup|timestamp|packed/;

const kUnits = ["B", "KiB", "MiB", "GiB", "TiB"];

/** Resolves to {isSoftware, lines}, or to null if there is no adapter. */
export async function describeAdapter(gpu) {
  const adapter = (await gpu?.requestAdapter({ powerPreference: "high-performance" })) ?? null;
  if (adapter === null) return null;
  const { info = {}, limits, features } = adapter; // browsers of 2024 have no info
  const isSoftware =
    info.isFallbackAdapter === true ||
    /swiftshader|llvmpipe/i.test(`${info.architecture} ${info.description}`);
  const subgroups = info.subgroupMinSize
    ? [["subgroups", [...new Set([info.subgroupMinSize, info.subgroupMaxSize])].join(" to ")]]
    : [];
  const lines = [
    ["vendor", info.vendor],
    ["architecture", info.architecture],
    ["device", [info.device, info.description].filter(Boolean).join(", ")],
    ["computes on", isSoftware ? "the CPU" : "a GPU"],
    ...subgroups,
    ...Object.entries(kLimits).map(([name, title]) => [title, limitText(name, limits[name])]),
    [
      "features",
      [...features]
        .filter((one) => kComputing.test(one))
        .sort()
        .join(", "),
    ],
  ];
  return { isSoftware, lines: lines.filter(([, text]) => text) };
}

function limitText(name, limit) {
  if (!/Size$/.test(name)) return String(limit);
  const power = Math.min(kUnits.length - 1, Math.floor(Math.log2(limit) / 10));
  return `${Number((limit / 1024 ** power).toFixed(2))} ${kUnits[power]}`;
}
