// The states of the strategy and of the accountant, which are stored with the weights of a round.

import * as eg from "edgegrad";
import type { RdpAccountant } from "../privacy/accountant.js";
import type { Strategy } from "../strategies/strategy.js";

interface Stored {
  readonly strategy: Record<string, unknown>;
  readonly accountant: { readonly spent: readonly number[] };
}

/** Returns both states as bytes. */
export function encodeProgress(strategy: Strategy, accountant: RdpAccountant): Uint8Array {
  return eg.io.save({ strategy: strategy.stateDict(), accountant: accountant.stateDict() });
}

/** Restores both states. */
export function restoreProgress(
  bytes: Uint8Array,
  strategy: Strategy,
  accountant: RdpAccountant,
): void {
  eg.scope(() => {
    const stored = eg.io.load<Stored>(bytes);
    strategy.loadStateDict(stored.strategy);
    accountant.loadStateDict(stored.accountant);
  });
}
