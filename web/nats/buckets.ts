// Buckets and streams, which are made by whoever needs them first.

import { isOverlap } from "./failures.js";

// The server has the other one's stream when it refuses this one; more attempts are for another that makes it once more.
const kAttempts = 5;

/**
 * Resolves as `create` does, which opens a bucket or stream and makes it if it does not exist. If several processes do this at the same
 * time, the server may refuse one of them because of the other's stream of the same name.
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
