/**
 * The add-ons: entries of the package that import `edgegrad` as a user would. Each is a folder of web/, from which a build writes
 * dist/<name>/index.js and its declarations, and an entry "./<name>" of package.json.
 */
export const kAddons = ["federated", "onnx", "peft", "transformers", "vis"];

/** The packages that are bundled into an add-on, pinned among the development dependencies. THIRD_PARTY_NOTICES.md names them. */
export const kBundledInAddon = {
  vis: ["@dagrejs/dagre", "simple-ascii-chart", "uplot", "uplot/dist/uPlot.min.css"],
};

/** The packages that add-ons import besides: optional peers of the package, which a program with the add-on installs. */
export const kPeersOfAddon = {
  federated: [
    "@nats-io/nats-core",
    "@nats-io/jetstream",
    "@nats-io/kv",
    "@nats-io/obj",
    "@nats-io/transport-node",
  ],
};
