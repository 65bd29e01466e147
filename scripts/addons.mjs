/**
 * The add-ons: entries of the package that import `edgegrad` as a user would. Each is a folder of web/, from which a build writes
 * dist/<name>/index.js and its declarations, and an entry "./<name>" of package.json.
 */
export const kAddons = ["distributed", "federated", "onnx", "peft", "transformers", "vis"];

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

/** The packages that add-ons import besides: optional peers of the package, which a program with the add-on installs. */
export const kPeersOfAddon = {
  distributed: kNats,
  federated: [...kNats, "@nats-io/obj"],
};

/** Folders of web/ that some add-ons share. They are no entries: each add-on has them in its own files. */
export const kSharedByAddons = {
  nats: ["distributed", "federated"],
};

/** The folders of web/ with add-ons and what they share. */
export const kAddonFolders = [...kAddons, ...Object.keys(kSharedByAddons)];

/** The modules of Node that add-ons import, which then work in Node only. */
export const kNodeModulesOfAddon = {
  distributed: ["node:worker_threads"],
};

/** The add-ons with a file worker.ts, which they start as a worker. */
export const kAddonsWithWorker = ["distributed"];
