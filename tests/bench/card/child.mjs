// The process in which one contender is measured; or the adapter is described, without a contender.

import { offerWebGpu } from "../gpu/adapter.mjs";
import { describeAdapter } from "./adapter.mjs";
import { measureContender } from "./measure.mjs";
import { rowsOf } from "./rows.mjs";

const [name, size] = process.argv.slice(2);
await offerWebGpu();
if (name === undefined) process.send({ adapter: await describeAdapter(navigator.gpu) });
else await measureContender(name, rowsOf(size), size, (found) => process.send(found));
process.send({ isDone: true }, () => process.exit(0));
