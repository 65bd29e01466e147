// Connects Pyodide with the engine.

import type { InitOptions } from "edgegrad";
import { Calls } from "./calls.js";
import { tensorFunctions } from "./data.js";
import type { Engine, PyodideLike } from "./engine.js";
import { Handles } from "./handles.js";
import { hookFunctions } from "./hooks.js";
import { optimizerFunctions } from "./optimizers.js";
import { Values } from "./values.js";
import { type WheelSource, wheelBytes } from "./wheel.js";

/** Options of `install`. */
export interface InstallOptions {
  /** The package, as `import * as eg from 'edgegrad'` gives it; default: what `import('edgegrad')` finds. */
  engine?: Engine;
  /** What the engine starts with, as for its own `init`; default: nothing, so a program may have started it before. */
  init?: InitOptions;
  /** The wheel of the Python package, or where it is; null if Python has it already. Default: the file beside this one. */
  wheel?: WheelSource | null;
  /** Whether `import torch` means edgegrad's from now on; default false. */
  asTorch?: boolean;
}

// The JavaScript module that the Python package imports.
const kModule = "_edgegrad";

/**
 * Connects Python in `pyodide` with the engine: starts the engine, unpacks the Python package and registers what it calls. Afterwards
 * `import edgegrad.torch as torch` works in Python. Throws what the engine's init() throws, and InvalidArgument if the wheel cannot be read.
 */
export async function install(pyodide: PyodideLike, options: InstallOptions = {}): Promise<void> {
  const loading = options.wheel === null ? null : wheelBytes(options.wheel);
  // A rejection before it is awaited must not end the process.
  loading?.catch(() => undefined);
  const eg = options.engine ?? (await import("edgegrad"));
  await eg.init(options.init ?? {});
  pyodide.registerJsModule(kModule, bridgeOf(eg));
  if (loading !== null) pyodide.unpackArchive(await readable(eg, loading), "wheel");
  if (options.asTorch === true) pyodide.runPython("import edgegrad; edgegrad.install_as_torch()");
}

async function readable<T>({ EdgeGradError }: Engine, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    const reason = (error as Error).message;
    throw new EdgeGradError(
      "InvalidArgument",
      `[install] wheel: ${reason}. Pass its address or its bytes as \`wheel\`.`,
    );
  }
}

function bridgeOf(eg: Engine): object {
  const handles = new Handles(eg);
  const values = new Values(eg, handles);
  const calls = new Calls(eg, handles, values);
  return {
    ...calls.hot(),
    ...tensorFunctions(eg, handles, values),
    ...hookFunctions(eg, handles, values),
    ...optimizerFunctions(handles),
    drop: (...list: number[]) => {
      for (const handle of list) handles.drop(handle);
    },
    sweep: (...live: number[]) => handles.sweep(live),
    op: calls.op.bind(calls),
    lookup: calls.lookup.bind(calls),
    get: calls.get.bind(calls),
    set: calls.set.bind(calls),
    names: calls.names.bind(calls),
    exists: (path: string) => calls.resolve(path) !== undefined,
    result: () => values.text(),
  };
}
