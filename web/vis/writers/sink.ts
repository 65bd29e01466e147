// Where the bytes of a writer go: to a file of Node, to a stream, or to memory.

import type { Bytes } from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import { joinBytes } from "./bytes.js";
import { nodeProcess } from "./node.js";

/** A stream that takes bytes, such as a `WritableStream` or the one of a file that a page may write. Declarations must not need the DOM's. */
export interface ByteStream {
  /** Returns the writer of the stream, which must not be locked. */
  getWriter(): {
    /** Writes bytes. */
    write(bytes: Bytes): Promise<unknown>;
    /** Ends the stream. */
    close(): Promise<unknown>;
  };
}

/** Takes bytes, one after the other. */
export interface Sink {
  /** Takes bytes; a promise if they are only written later. */
  write(bytes: Bytes): Promise<unknown> | undefined;
  /** Ends it. */
  close(): Promise<void>;
  /** Returns all bytes, if they are kept in memory. */
  bytes?(): Bytes;
}

/** Returns the sink of what a writer was given: the path of a file, a stream, or undefined for memory. */
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

// Every record is written at once, so that a program that is killed has lost none.
function fileSink(where: string, path: string): Sink {
  const process = nodeProcess();
  if (process === null) {
    const advice = "Pass a WritableStream, or nothing and read bytes() at the end.";
    return fail("InvalidArgument", where, `there are no folders here (${path}). ${advice}`);
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

/** Returns whether there is a file at a path of Node that is not empty. */
export function hasContent(path: string): boolean {
  const stats = nodeProcess()
    ?.getBuiltinModule("node:fs")
    .statSync(path, { throwIfNoEntry: false });
  return (stats?.size ?? 0) > 0;
}
