// The destination of a writer's bytes: a file in Node, a stream, or memory.

import type { Bytes } from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import { joinBytes } from "./bytes.js";
import { nodeProcess } from "./node.js";

/** A stream of bytes, such as a `WritableStream` or that of a file that a page may write. Does not depend on the DOM's declarations. */
export interface ByteStream {
  /** Returns the writer of the stream, which must not be locked. */
  getWriter(): {
    /** Writes bytes. */
    write(bytes: Bytes): Promise<unknown>;
    /** Ends the stream. */
    close(): Promise<unknown>;
  };
}

/** A destination to which bytes are appended. */
export interface Sink {
  /** Appends bytes; returns a promise if they are written later. */
  write(bytes: Bytes): Promise<unknown> | undefined;
  /** Closes the destination. */
  close(): Promise<void>;
  /** Returns all bytes, if they are kept in memory. */
  bytes?(): Bytes;
}

/** Returns the sink for a writer's target: the path of a file, a stream, or undefined for memory. */
export function sinkOf(
  where: string,
  target: unknown,
  pathOf: (folder: string) => string = (path) => path,
): Sink {
  if (target === undefined) return memorySink();
  if (typeof target === "string") return fileSink(where, pathOf(target));
  if (typeof (target as Partial<ByteStream> | null)?.getWriter === "function")
    return streamSink(where, target as ByteStream);
  return refuse(where, "target", "a path, a WritableStream or nothing", target);
}

function memorySink(): Sink {
  const parts: Bytes[] = [];
  return {
    write(bytes) {
      parts.push(bytes);
      return undefined;
    },
    close: async () => {},
    bytes: () => joinBytes(parts),
  };
}

function streamSink(where: string, stream: ByteStream): Sink {
  let writer: ReturnType<ByteStream["getWriter"]>;
  try {
    writer = stream.getWriter();
  } catch (error) {
    return fail("InvalidArgument", where, `the stream cannot be written: ${error}.`);
  }
  return {
    write: (bytes) => writer.write(bytes),
    close: async () => {
      await writer.close();
    },
  };
}

// Every record is written immediately, so that a program that is killed loses none.
function fileSink(where: string, path: string): Sink {
  const process = nodeProcess();
  if (process === null) {
    const advice = "Pass a WritableStream, or nothing and read bytes() at the end.";
    return fail("InvalidArgument", where, `there is no file system here (${path}). ${advice}`);
  }
  const { mkdirSync, openSync, writeSync, closeSync } = process.getBuiltinModule("node:fs");
  const { dirname } = process.getBuiltinModule("node:path");
  const attempt = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      return fail("InvalidArgument", where, `${path} cannot be written: ${error}.`);
    }
  };
  const file = attempt(() => {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, "a");
  });
  return {
    write(bytes) {
      for (let at = 0; at < bytes.length; ) at += attempt(() => writeSync(file, bytes, at));
      return undefined;
    },
    close: async () => closeSync(file),
  };
}

/** Whether a file exists in Node and is not empty. */
export function hasContent(path: string): boolean {
  const stats = nodeProcess()
    ?.getBuiltinModule("node:fs")
    .statSync(path, { throwIfNoEntry: false });
  return (stats?.size ?? 0) > 0;
}
