// eg.autograd.graph.queueCallback(): functions that run at the end of a backward call.

import { checkedFor, native } from "../runtime/bridge/bridge.js";
import { holdFunction } from "../runtime/bridge/callbacks.js";
import { checkFunction } from "./hooks.js";

/**
 * Calls `fn` once, after the running backward call has run all its nodes and before it returns. May be
 * called in hooks and custom Functions.
 */
export function queueCallback(fn: () => void): void {
  checkFunction("queueCallback", fn);
  const callback = holdFunction(() => {
    fn();
    return [];
  });
  checkedFor("queueCallback", native.queueCallback(callback));
}
