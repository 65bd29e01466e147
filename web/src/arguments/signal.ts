// The rule for the option `signal`.

import { type AbortSignalLike, isAbortSignal } from "../runtime/host/abort.js";
import { Rule } from "./rule.js";

/** An AbortSignal, which may be left out. */
export const signalRule = new Rule<AbortSignalLike>("an AbortSignal", isAbortSignal).optional();
