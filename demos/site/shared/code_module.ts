// Runs a visitor's text as a module. It becomes a blob, which needs no eval, and in which `import` and top-level `await` work.
// A blob cannot resolve the name "edgegrad" (a worker has no import map, and a built site has no file of that name), so the name
// is replaced by the address of a second blob that exports this worker's engine.

import * as eg from "edgegrad";

const kEngineKey = "edgegradOfThisWorker";

/** The error that a visitor's module threw (`cause`), and the line of its text, if that is known. */
export class CodeError extends Error {
  constructor(
    override readonly cause: unknown,
    readonly line: number | null,
  ) {
    super(cause instanceof Error ? cause.message : String(cause));
  }
}

/** Runs a module and returns its exports; rejects with a CodeError. */
export async function importCode(code: string): Promise<Record<string, unknown>> {
  const address = moduleAddress(withEngine(code));
  try {
    return await import(/* @vite-ignore */ address);
  } catch (error) {
    throw new CodeError(error, lineIn(error, address));
  }
}

function moduleAddress(text: string): string {
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

// Exports every name of the engine, including reserved words.
function engineModule(): string {
  Object.assign(globalThis, { [kEngineKey]: eg });
  const names = Object.keys(eg);
  const taken = names.map((name, i) => `${name}: $${i}`).join(", ");
  const given = names.map((name, i) => `$${i} as ${name}`).join(", ");
  return `const { ${taken} } = globalThis.${kEngineKey};\nexport { ${given} };`;
}

function withEngine(code: string): string {
  const engine = JSON.stringify(moduleAddress(engineModule()));
  return code.replace(
    /(\bfrom\s*|\bimport\s*\(?\s*)(["'])edgegrad\2/g,
    (_, start) => start + engine,
  );
}

// Replacing the import does not change line numbers.
function lineIn(error: unknown, address: string): number | null {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const line = stack.split(`${address}:`)[1]?.match(/^\d+/)?.[0];
  return line === undefined ? null : Number(line);
}
