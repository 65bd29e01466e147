// Firefox remembers the failure of an import for as long as the page lives: a later one fails at once, without a request. So what has
// failed is imported under another address.

import { importAt } from "../../files.js";
import { addressIn } from "./start_failure.js";

/** By address: the number of the next attempt, once the first one has failed. */
const attempts = new Map<string, number>();

/** Resolves as `load` does, which calls import() with an address that bundlers see. May be called again after a failure. */
export async function importAgain<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const address = addressIn((error as Error).message);
    const attempt = attempts.get(address ?? "");
    if (address === undefined) throw error;
    attempts.set(address, attempt ?? 1);
    if (attempt === undefined) throw error;
    try {
      return (await importAt(addressOfAttempt(address, attempt))) as T;
    } catch {
      attempts.set(address, attempt + 1);
      throw error;
    }
  }
}

/** Returns the address under which a module is asked for again after `attempt` failures. */
export function addressOfAttempt(address: string, attempt: number): string {
  const url = new URL(address);
  url.searchParams.set("attempt", String(attempt));
  return url.href;
}
