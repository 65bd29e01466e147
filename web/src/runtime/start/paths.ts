// Addresses of files in Node.

/** Returns what Node's functions read: a path, or the URL of a file. */
export const pathOf = (url: string): string | URL => (url.startsWith("file:") ? new URL(url) : url);
