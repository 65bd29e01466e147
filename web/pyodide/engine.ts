// What the bridge knows of the engine and of Pyodide: types only, so that the file imports neither.

import type * as edgegrad from "edgegrad";

/** The package `edgegrad`, as `import * as eg` gives it. */
export type Engine = typeof edgegrad;

/** What the bridge uses of Pyodide. */
export interface PyodideLike {
  /** Makes an object importable in Python. */
  registerJsModule(name: string, module: object): void;
  /** Unpacks an archive where Python finds its packages. */
  unpackArchive(buffer: ArrayBuffer | Uint8Array, format: string): void;
  /** Runs Python and returns the value of its last expression. */
  // biome-ignore lint/suspicious/noExplicitAny: any value of Python.
  runPython(code: string): any;
}

/** A function of Python. */
export interface PyFunction {
  // biome-ignore lint/suspicious/noExplicitAny: any value of Python.
  (...args: any[]): any;
  copy(): PyFunction;
  destroy(): void;
}

/** A view of a buffer of Python's heap. */
export interface PyBufferView {
  readonly data: ArrayBufferView & { readonly length: number; slice(): never };
  release(): void;
}

/** An object of Python with the buffer protocol. */
export interface PyBuffer {
  copy(): PyBuffer;
  getBuffer(type: string): PyBufferView;
}
