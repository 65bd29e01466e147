// Buckets and streams, which are created by the process that needs them first.

import { isOverlap } from "./failures.js";

// When the server rejects a stream, the other process's stream already exists, so one retry is usually enough.
const kAttempts = 5;

/**
 * Calls `create`, which opens a bucket or stream and creates it if it does not exist, and retries: if several processes do this at the same
 * time, the server may reject one of them because of the other's stream of the same name.
 */
export async function openOrCreate<T>(create: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await create();
    } catch (error) {
      if (attempt === kAttempts || !isOverlap(error)) throw error;
    }
  }
}
