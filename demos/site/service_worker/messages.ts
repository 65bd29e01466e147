// How the pages call the service worker, and what they say to each other.

/** The worker's script, in the folder of the site. */
export const kWorkerScript = "offline_worker.js";

/** The cache of what was visited and is not among the files of the demos. */
export const kVisited = "visited";

/** A page asks the worker to keep the files of the demos; it sends a port for the answer. */
export const kKeep = "keep";

/** A page asks the worker to keep the guide and the reference, which `kDocsList` names; the answers are how far it is, and then the same. */
export const kKeepDocs = "keep-docs";

/** A list of the files of the docs, relative to the site, with their size together: { bytes, files }. */
export const kDocsList = "docs/files.json";

/** How many files of the docs are kept so far. */
export interface Progress {
  readonly kept: number;
  readonly of: number;
}

/** The answer, when the worker has all files or cannot get them. */
export type Kept = { readonly isKept: true } | { readonly isKept: false; readonly reason: string };
