// Workers in pages that restrict them: with a content security policy that requires Trusted Types the address of a script must come
// from a policy, and a program can construct workers itself.

import { describe, EdgeGradError, fail } from "../errors/errors.js";

/** The option `createWorker` of init(). */
export type CreateWorker = (
  script: string,
  options: { readonly type?: "module"; readonly name?: string },
) => object;

/** Returns the worker that the program's own function constructs; throws InvalidArgument if it does not. */
export function createdBy(create: CreateWorker, script: string, options: object = {}): object {
  let worker: Partial<Worker> | null | undefined;
  try {
    worker = create(script, { ...options });
  } catch (error) {
    const text = `[init] createWorker failed: ${(error as Error | undefined)?.message ?? error}`;
    throw new EdgeGradError("InvalidArgument", text, { cause: error });
  }
  if (typeof worker?.postMessage === "function" && typeof worker.terminate === "function") {
    return worker;
  }
  const expected = "expected the Worker of the script and options that it was given";
  fail("InvalidArgument", "init", `createWorker returned ${describe(worker)}; ${expected}.`);
}

/** The part of the browser's API that is used; TypeScript does not declare it yet. */
interface TrustedTypes {
  readonly defaultPolicy: object | null;
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

/** The name that a page allows: `trusted-types edgegrad`. */
const kPolicy = "edgegrad";

let policy: ReturnType<TrustedTypes["createPolicy"]> | null | undefined;

/** Returns the address in the form that the Worker of this page takes. */
export function trusted(script: string): string {
  policy ??= createPolicy();
  return policy?.createScriptURL(script) ?? script;
}

// Null where there is none to make. A page's own default policy is asked by the browser itself.
function createPolicy(): typeof policy {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined || trustedTypes.defaultPolicy !== null) return null;
  try {
    return trustedTypes.createPolicy(kPolicy, { createScriptURL: (url) => url });
  } catch {
    return null;
  }
}

/** The reason why a page gets no workers whose content security policy does not allow them; browsers do not tell it. */
export const kForbidden = "the content security policy does not allow them";

/** What to do about the reason why workers cannot be constructed; undefined for others. */
export function adviceOnWorkers(reason: string): string | undefined {
  if (reason === kForbidden) {
    return "Add the origin of their script to worker-src, and blob: if that is not this page's own.";
  }
  if (/TrustedScriptURL/.test(reason)) {
    return `Allow the policy "${kPolicy}" in the directive trusted-types, or pass createWorker.`;
  }
  // Of Node's permission model.
  if (/Access to this API has been restricted/.test(reason))
    return "Start Node with --allow-worker.";
  return undefined;
}
