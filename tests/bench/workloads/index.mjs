// All workloads by name, in the order of the report.
//
// A workload has title, contenders and rows(options): [{id, title = id, unit, better, target, digits}]. Either
// measure(library, options, report) runs in a child process per contender, `repeats` times, each limited to `limit`
// seconds; or measureAll(node, options) does everything itself.
// prepare() installs requirements. finish(results) may add values that depend on all results, and checks(...) may check
// more than row.target can express.

import chain from "./chain.mjs";
import door from "./door.mjs";
import download from "./download.mjs";
import gemm from "./gemm.mjs";
import { kOnnx } from "./onnx.mjs";
import ops from "./ops.mjs";
import singleImage from "./single_image.mjs";
import startup from "./startup.mjs";
import { kTrainings } from "./training.mjs";

const kAll = [gemm, ops, chain, ...kTrainings, singleImage, ...kOnnx, startup, download, door];

export const kWorkloads = Object.fromEntries(kAll.map((workload) => [workload.name, workload]));
