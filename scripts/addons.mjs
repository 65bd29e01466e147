/**
 * The add-ons: entries of the package that import `edgegrad` as a user would. Each is a folder of web/, from which a build writes
 * dist/<name>/index.js and its declarations, and an entry "./<name>" of package.json.
 */
export const kAddons = [
  "distributed",
  "federated",
  "metrics",
  "onnx",
  "peft",
  "pyodide",
  "transformers",
  "vis",
];

/** The packages that are bundled into an add-on, pinned among the development dependencies. THIRD_PARTY_NOTICES.md names them. */
export const kBundledInAddon = {
  vis: ["@dagrejs/dagre", "simple-ascii-chart", "uplot", "uplot/dist/uPlot.min.css"],
};

const kNats = [
  "@nats-io/nats-core",
  "@nats-io/jetstream",
  "@nats-io/kv",
  "@nats-io/transport-node",
];

/** The packages that add-ons import as optional peers of the package: a program that uses the add-on installs them. */
export const kPeersOfAddon = {
  distributed: kNats,
  federated: [...kNats, "@nats-io/obj"],
};

/** Folders of web/ that several add-ons share. They are not entries of the package: each add-on bundles them. */
export const kSharedByAddons = {
  errors: [...kAddons, "gguf", "nats"],
  gguf: ["peft", "transformers"],
  nats: ["distributed", "federated"],
};

/** The folders of the add-ons and the folders that they share. */
export const kAddonFolders = [...kAddons, ...Object.keys(kSharedByAddons)];

/** The modules of Node that add-ons import, which then work in Node only. */
export const kNodeModulesOfAddon = {
  distributed: ["node:worker_threads"],
};

/** The add-ons with a file worker.ts, which they start as a worker. */
export const kAddonsWithWorker = ["distributed"];

/** The add-ons with other files beside their scripts, which they find by their own address. */
export const kAddonsWithFiles = ["pyodide"];
