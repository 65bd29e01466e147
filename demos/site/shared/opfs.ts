// Files that outlive a reload: the origin's private file system, from a worker (createSyncAccessHandle is the form that
// every engine has). Some browsers keep none, and none may be left in a full one: pages say so and go on.

// Of workers alone, so not among the types of a page.
interface SyncAccessFile extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<{
    truncate(size: number): void;
    write(bytes: Uint8Array): number;
    flush(): void;
    close(): void;
  }>;
}

/** Writes a whole file; resolves to false where this browser cannot keep it. */
export async function saveFile(name: string, bytes: Uint8Array): Promise<boolean> {
  try {
    await writeFile(name, bytes);
    return true;
  } catch (error) {
    console.warn(error);
    return false;
  }
}

async function writeFile(name: string, bytes: Uint8Array): Promise<void> {
  const file = await (await folder()).getFileHandle(name, { create: true });
  const access = await (file as SyncAccessFile).createSyncAccessHandle();
  try {
    access.truncate(0);
    access.write(bytes);
    access.flush();
  } finally {
    access.close();
  }
}

/** A file's bytes, or null where there is none. */
export async function loadFile(name: string): Promise<Uint8Array | null> {
  if (!keepsFiles()) return null;
  try {
    const handle = await (await folder()).getFileHandle(name);
    return new Uint8Array(await (await handle.getFile()).arrayBuffer());
  } catch (error) {
    if ((error as DOMException).name === "NotFoundError") return null;
    throw error;
  }
}

/** Removes a file, if it is there. */
export async function removeFile(name: string): Promise<void> {
  if (!keepsFiles()) return;
  const directory = await folder();
  await directory.removeEntry(name).catch((error: DOMException) => {
    if (error.name !== "NotFoundError") throw error;
  });
}

function keepsFiles(): boolean {
  return navigator.storage?.getDirectory !== undefined;
}

function folder(): Promise<FileSystemDirectoryHandle> {
  return navigator.storage.getDirectory();
}
