// One process of a group. Its argument is JSON: { scenario, ...options }, of which a file of scenarios/ makes a result; it is written as
// lines of JSON, { event } for each call of tell(), and at the end { result } or { error: { code, message, isOurs } }.

import { once } from "node:events";
import * as eg from "edgegrad";
import { initProcessGroup } from "edgegrad/distributed";

const { scenario, group: options, ...rest } = JSON.parse(process.argv[2]);
const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const { [scenario]: run } = await import("./scenarios.mjs");
await eg.init({ threads: 1 });
let group;
try {
  group = await initProcessGroup(options);
  write({ rank: group.rank });
  const tell = (event) => write({ event });
  // While it is waited for, it keeps the process.
  const mayGoOn = () => once(process, "message");
  const tools = { group, options, tell, mayGoOn };
  write({ result: (await run({ ...tools, ...rest })) ?? null });
} catch (error) {
  const { code, message } = error;
  write({ error: { code, message, isOurs: error instanceof eg.EdgeGradError } });
}
await group?.destroy();
