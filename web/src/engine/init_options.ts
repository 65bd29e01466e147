// What init() can be told.

import { readOptions } from "../arguments/read.js";
import {
  either,
  functionOf,
  type Options,
  oneOf,
  Rule,
  text,
  type Values,
} from "../arguments/rule.js";
import { fail } from "../runtime/errors.js";
import type { WasmUrl } from "../runtime/load.js";
import { chooseVariant, defaultThreads, kVariants } from "../runtime/variant.js";

/** Each thread is a worker with a stack in the 4 GiB of WebAssembly; more of them end the process. @internal */
export const kMaxThreads = 128;

const kThreads = new Rule<number>(`a whole number from 1 to ${kMaxThreads}`, (value) => {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= kMaxThreads;
});

const kOptions = {
  /** CPU threads, the calling one included; default: the machine's, at most 8. */
  threads: kThreads.optional(),
  /** Workers that `spawn` keeps busy with functions of modules at once; default: the machine's cores, at most 8. */
  spawnWorkers: kThreads.optional(),
  /** Which WebAssembly build to use; "auto" is the best that runs here. */
  variant: oneOf("auto", ...kVariants).or("auto"),
  /** Whether there is WebGPU: "required" opens it now and rejects with DeviceUnavailable, "auto" does so at the first use. */
  webgpu: oneOf("auto", "off", "required").or("auto"),
  /**
   * An object like navigator.gpu to find devices with; default navigator.gpu, and in Node the package `webgpu`. What is not
   * navigator.gpu itself cannot leave its thread, which then plays for the GPU when it is idle: only the Async forms read.
   */
  gpu: new Rule<object>("an object like navigator.gpu, with requestAdapter()", (value) => {
    return typeof (value as { requestAdapter?: unknown } | null)?.requestAdapter === "function";
  }).optional(),
  /** Where the .wasm file and the workers' script are, when they are not where the package was installed. */
  wasmUrl: either(text, functionOf<Exclude<WasmUrl, string>>()).optional(),
};

/** Options of `init`. */
export type InitOptions = Options<typeof kOptions>;

/** What an engine is started with. */
export type InitValues = Values<typeof kOptions> & {
  readonly threads: number;
  readonly spawnWorkers: number;
  /** True when more than one was asked for. */
  readonly wantsThreads: boolean;
};

/** Returns the options of a call of init(), complete. */
export function readInitOptions(given: readonly unknown[]): InitValues {
  const { threads, spawnWorkers, ...options } = readOptions("init", kOptions, given);
  return {
    threads: threads ?? defaultThreads(),
    wantsThreads: (threads ?? 1) > 1,
    spawnWorkers: spawnWorkers ?? defaultThreads(),
    ...options,
  };
}

/** Throws InvalidArgument when a later call of init() asks for another engine than the one there is. */
export function checkSameOptions(
  given: readonly unknown[],
  wanted: InitValues,
  inForce: InitValues,
): void {
  const present = { ...inForce, variant: chooseVariant(inForce.variant) };
  for (const name of Object.keys(given[0] ?? {}) as (keyof InitOptions)[]) {
    const [asked, has] = [wanted[name], present[name]];
    // Of functions and objects, which are new at every call, nobody can say whether they differ.
    const isPlain = typeof asked === "string" || typeof asked === "number";
    if (!isPlain || asked === "auto" || asked === has) continue;
    // The device can be opened at any time.
    if (asked === "required" && has === "auto") continue;
    const told = `${name}: ${JSON.stringify(asked)} was asked for, but the engine was started with ${JSON.stringify(has)}.`;
    fail("InvalidArgument", "init", `${told} Call \`await shutdown()\` first to start another.`);
  }
}
