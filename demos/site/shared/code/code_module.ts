// Runs a visitor's text as a module. It becomes a blob: that needs no eval, and `import` and top-level `await` work in it.
// A blob cannot resolve the name "edgegrad" (a worker has no import map, and a built site has no file of that name), so the names of the
// package's entries are replaced by the addresses of blobs that export what this worker has. Add-ons are loaded when they are imported.

import * as eg from "edgegrad";

const kEntriesKey = "edgegradOfThisWorker";

type Names = Readonly<Record<string, unknown>>;

const kAddons: Readonly<Record<string, () => Promise<Names>>> = {
  federated: () => import("edgegrad/federated"),
  metrics: () => import("edgegrad/metrics"),
  onnx: () => import("edgegrad/onnx"),
  peft: () => import("edgegrad/peft"),
  transformers: () => import("edgegrad/transformers"),
  vis: () => import("edgegrad/vis"),
};

/** The error that a visitor's module threw (`cause`), and the line of its text, if that is known. */
export class CodeError extends Error {
  constructor(
    override readonly cause: unknown,
    readonly line: number | null,
  ) {
    super(cause instanceof Error ? cause.message : String(cause));
  }
}

/** What a module may import besides the package. */
export interface CodeSurroundings {
  /** The texts of modules, by the names by which it imports them: "./name". */
  readonly files?: Readonly<Record<string, string>>;
  /** Replaces the names that an entry exports, such as "edgegrad/vis". */
  readonly replace?: (entry: string, names: Names) => Names;
}

/** Runs a module and returns its exports; rejects with a CodeError. */
export async function importCode(code: string, around: CodeSurroundings = {}): Promise<Names> {
  const address = moduleAddress(await withAddresses(code, around));
  try {
    return await import(/* @vite-ignore */ address);
  } catch (error) {
    throw new CodeError(error, lineIn(error, address));
  }
}

function moduleAddress(text: string): string {
  return URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
}

const addresses = new Map<string, string>();

async function entryAddress(entry: string, { replace }: CodeSurroundings): Promise<string> {
  const known = addresses.get(entry);
  if (known !== undefined) return known;
  const names = await namesOf(entry);
  const address = moduleAddress(entryModule(entry, replace?.(entry, names) ?? names));
  addresses.set(entry, address);
  return address;
}

async function namesOf(entry: string): Promise<Names> {
  const [, name] = entry.split("/");
  if (name === undefined) return eg;
  const addon = kAddons[name];
  if (addon !== undefined) return addon();
  const namespace = (eg as Names)[name];
  if (typeof namespace === "object" && namespace !== null) return namespace as Names;
  throw new CodeError(new Error(`a page cannot load ${entry}.`), null);
}

// Exports every name, including reserved words.
function entryModule(entry: string, given: Names): string {
  const entries = Reflect.get(globalThis, kEntriesKey) ?? {};
  Object.assign(globalThis, { [kEntriesKey]: { ...entries, [entry]: given } });
  const names = Object.keys(given);
  const taken = names.map((name, i) => `${name}: $${i}`).join(", ");
  const exported = names.map((name, i) => `$${i} as ${name}`).join(", ");
  return `const { ${taken} } = globalThis.${kEntriesKey}["${entry}"];\nexport { ${exported} };`;
}

const kImport = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])(edgegrad(?:\/\w+)?|\.\/[\w.]+)\2/g;

async function withAddresses(code: string, around: CodeSurroundings): Promise<string> {
  const found = new Map<string, string>();
  for (const [, , , name = ""] of code.matchAll(kImport)) {
    const file = around.files?.[name.slice("./".length)];
    if (name.startsWith("edgegrad")) found.set(name, await entryAddress(name, around));
    else if (file !== undefined) found.set(name, moduleAddress(await withAddresses(file, around)));
  }
  return code.replace(kImport, (whole, start: string, _, name: string) => {
    const address = found.get(name);
    return address === undefined ? whole : start + JSON.stringify(address);
  });
}

// Replacing the import does not change line numbers.
function lineIn(error: unknown, address: string): number | null {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const line = stack.split(`${address}:`)[1]?.match(/^\d+/)?.[0];
  return line === undefined ? null : Number(line);
}
