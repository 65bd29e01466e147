// Files that survive a reload, in the origin private file system, from a worker (all browser engines have createSyncAccessHandle).
// Some browsers store no files, and storage may be full: pages then show a note and continue.

// Only available in workers, so the types of a page do not include it.
interface SyncAccessFile extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<{
    truncate(size: number): void;
    write(bytes: Uint8Array): number;
    flush(): void;
    close(): void;
  }>;
}

/** Writes a whole file; resolves to false if this browser cannot store it. */
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

/** The bytes of a file, or null if there is none. */
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

/** Removes a file, if it exists. */
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
