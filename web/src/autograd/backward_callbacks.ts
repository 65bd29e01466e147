// Functions that run when a backward call has finished its nodes.

import { checkedFor, native } from "../runtime/bridge.js";
import { holdFunction } from "../runtime/callbacks.js";
import { checkFunction } from "./hooks.js";

/**
 * Calls `fn` once, when the backward call that is running now has run all its nodes and before it
 * returns; for hooks and custom Functions.
 */
export function queueCallback(fn: () => void): void {
  checkFunction("queueCallback", fn);
  const callback = holdFunction(() => {
    fn();
    return [];
  });
  checkedFor("queueCallback", native.queueCallback(callback));
}
