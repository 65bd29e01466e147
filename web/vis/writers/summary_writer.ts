// SummaryWriter: event files for TensorBoard.

import type { Bytes, nn } from "edgegrad";
import type { LogRecord } from "../log/record.js";
import { graphEvent, recordEvent, versionEvent } from "./events.js";
import { FileWriter } from "./file_writer.js";
import { graphOf } from "./graph.js";
import { nodeProcess } from "./node.js";
import { type ByteStream, sinkOf } from "./sink.js";

let count = 0;

/** Writes an event file for TensorBoard, as `torch.utils.tensorboard.SummaryWriter` does. Every record is written when it is added. */
export class SummaryWriter extends FileWriter {
  /**
   * Creates a writer. In Node, `target` is a folder, in which a new file is created: `tensorboard --logdir` shows every subfolder as a run.
   * In a page it is a stream of bytes; without a target, `bytes()` returns the file at the end.
   */
  constructor(target?: string | ByteStream) {
    super(sinkOf("SummaryWriter", target, fileIn), [
      "scalar",
      "histogram",
      "image",
      "matrix",
      "text",
    ]);
    this.write(versionEvent());
  }

  /** Adds the graph of the ops of a module, which is called with these inputs in evaluation mode. Its parameters and state do not change. */
  addGraph(module: nn.Module, ...inputs: unknown[]): void {
    this.assertOpen("SummaryWriter.addGraph");
    this.write(graphEvent(graphOf("SummaryWriter.addGraph", module, inputs)));
  }

  protected override encode(record: LogRecord): Bytes | Promise<Bytes> {
    return recordEvent(record);
  }
}

// Readers find event files by this name. One process may have several writers in the same folder.
function fileIn(folder: string): string {
  const process = nodeProcess();
  const host = process?.getBuiltinModule("node:os").hostname() ?? "page";
  const seconds = String(Math.floor(Date.now() / 1000)).padStart(10, "0");
  return `${folder}/events.out.tfevents.${seconds}.${host}.${process?.pid ?? 0}.${count++}`;
}
