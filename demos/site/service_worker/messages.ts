// How the pages call the service worker, and what they say to each other.

/** The worker's script, in the folder of the site. */
export const kWorkerScript = "offline_worker.js";

/** A page asks the worker to keep the files of the demos; it sends a port for the answer. */
export const kKeep = "keep";

/** The answer, when the worker has all files or cannot get them. */
export type Kept = { readonly isKept: true } | { readonly isKept: false; readonly reason: string };
