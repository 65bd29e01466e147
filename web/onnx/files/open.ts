// Files that are read in parts: Blobs, and files in Node.

import { fail } from "../../errors/errors.js";
import type { BlobSource, OpenFile } from "../source.js";

/** Returns a Blob as a file, whose bytes the platform keeps. */
export const blobFile = (where: string, blob: BlobSource): OpenFile => ({
  size: blob.size,
  bytes: null,
  async read(start, end) {
    try {
      return new Uint8Array(await blob.slice(start, end).arrayBuffer());
    } catch (error) {
      // A file on disk may have changed or been deleted.
      return fail("InvalidArgument", where, `the file cannot be read: ${error}.`);
    }
  },
  close: async () => {},
});

interface NodeHandle {
  stat(): Promise<{ readonly size: number }>;
  read(into: Uint8Array, at: number, length: number, from: number): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
}

interface NodeProcess {
  getBuiltinModule?(name: string): { open(path: URL): Promise<NodeHandle> };
}

/** Opens a file in Node; throws InvalidArgument elsewhere. */
export async function nodeFile(where: string, url: URL): Promise<OpenFile> {
  const { process } = globalThis as { process?: NodeProcess };
  const files = process?.getBuiltinModule?.("node:fs/promises");
  if (files === undefined) {
    return fail(
      "InvalidArgument",
      where,
      `${url.href} can only be read in Node: pages take a File or an http URL.`,
    );
  }
  const unreadable = (why: unknown) =>
    fail("InvalidArgument", where, `${url.href} cannot be read: ${why}.`);
  const handle = await files.open(url).catch(unreadable);
  // Allocating memory would take longer than reading into it.
  let memory = new Uint8Array(0);
  const read = async (start: number, end: number) => {
    if (memory.length < end - start) memory = new Uint8Array(end - start);
    for (let at = start; at < end; ) {
      const { bytesRead } = await handle.read(memory, at - start, end - at, at).catch(unreadable);
      if (bytesRead === 0) unreadable(`it ends at byte ${at}`);
      at += bytesRead;
    }
    return memory.subarray(0, end - start);
  };
  try {
    const { size } = await handle.stat();
    return { size, bytes: null, read, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    return unreadable(error);
  }
}
