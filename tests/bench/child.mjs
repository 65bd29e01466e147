// The process in which one contender runs one workload; started by runner.mjs, which gets every figure as soon as there
// is one, so that a crash or the time limit loses only what was not measured yet.

import { isPeer, kContenders } from "./contenders.mjs";
import { kWorkloads } from "./workloads/index.mjs";

const { workload, contender, quick } = JSON.parse(process.argv[2]);
const { library: name, threads, device, compiled } = kContenders[contender];

const report = (id, value) => process.send({ id, value });
report.error = (id, error) => process.send({ id, error });
report.data = (id, data) => process.send({ id, data });

const library = await (await import(`./libraries/${name}.mjs`)).load({ threads, device });
process.send({
  detail: library.detail,
  variant: library.variant,
  package: import.meta.resolve("edgegrad"),
});
await kWorkloads[workload].measure(library, { quick, compiled, isPeer: isPeer(contender) }, report);
// Whatever a library leaves running must not hold the report up.
process.send({ isDone: true }, () => process.exit(0));
