// The worker of a process group: it uses the network, so that operations proceed while the program's thread computes or blocks.

import { parentPort, workerData } from "node:worker_threads";
import { EdgeGradError } from "edgegrad";
import { Participant } from "./network/participant.js";
import type { Failure, Reply, Request, WorkerOptions } from "./requests.js";

const options = workerData as WorkerOptions;
let participant: Participant | null = null;

const tell = (reply: Reply) => parentPort?.postMessage(reply);

function failureOf(error: unknown): Failure {
  if (error instanceof EdgeGradError) {
    return { code: error.code, text: error.message.replace(/^\[[^\]]*\] /, "") };
  }
  return { code: "InvalidArgument", text: `the server refuses or fails: ${error}` };
}

async function handle(request: Request): Promise<void> {
  if (request.type === "collective") {
    await participant?.run(request);
    if (request.isAwaited) tell({ type: "done", id: request.id });
  } else if (request.type === "abort") {
    participant?.abort(request.reason);
  } else if (request.type === "leave") {
    await participant?.leave();
    tell({ type: "done", id: request.id });
    parentPort?.close();
  } else {
    try {
      participant ??= await Participant.open(request.where, options, (failure) => {
        tell({ type: "lost", failure });
      });
      tell({ type: "done", id: request.id, place: await participant.join(request.where) });
    } catch (error) {
      tell({ type: "failed", id: request.id, failure: failureOf(error) });
    }
  }
}

parentPort?.on("message", (request: Request) => void handle(request));
