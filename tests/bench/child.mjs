// The process in which one contender runs one workload. It is started by runner.mjs and reports every result as soon as
// it is available, so that a crash or the time limit loses only what has not been measured yet.

import { kContenders } from "./contenders.mjs";
import { kWorkloads } from "./workloads/index.mjs";

const { workload, contender, quick } = JSON.parse(process.argv[2]);
const { library: name, threads, device } = kContenders[contender];

const report = (id, value) => process.send({ id, value });
report.error = (id, error) => process.send({ id, error });
report.data = (id, data) => process.send({ id, data });

/** Loads a library for the WebGPU device, as npm run bench -- webgpu has it. */
async function loadForCard() {
  const { preferSoftwareAdapter } = await import("../webgpu/support/software_adapter.mjs");
  const { offerWebGpu, nameOfAdapter } = await import("./gpu/adapter.mjs");
  preferSoftwareAdapter();
  await offerWebGpu();
  const library = await (await import(`./card/${name}.mjs`)).load({});
  return { ...library, detail: await nameOfAdapter() };
}

const library =
  device === "webgpu"
    ? await loadForCard()
    : await (await import(`./libraries/${name}.mjs`)).load({ threads });
process.send({
  detail: library.detail,
  variant: library.variant,
  package: import.meta.resolve("edgegrad"),
});
await kWorkloads[workload].measure(library, { quick }, report);
// Exit explicitly: work that a library leaves running must not delay the report.
process.send({ isDone: true }, () => process.exit(0));
