// Reads WebAssembly modules in binary form.

/** Reads the numbers and strings of the binary format. */
export class Cursor {
  at = 0;

  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.bytes[this.at++];
  }

  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  /** Reads a signed number of up to 32 bits. */
  signed() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 127) << shift;
      if (byte < 128) return shift < 25 && byte & 64 ? value | (-1 << (shift + 7)) : value;
    }
  }

  text() {
    const size = this.number();
    this.at += size;
    return this.bytes.toString("utf8", this.at - size, this.at);
  }

  /** Reads a vector: calls `read` for each element and returns the results. */
  vector(read) {
    return Array.from({ length: this.number() }, read);
  }
}

/** Returns the bytes of an unsigned number. */
export function leb(value) {
  const bytes = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

/** Returns the bytes of a signed number of up to 32 bits. */
export function signedLeb(value) {
  const bytes = [];
  for (let rest = value; ; rest >>= 7) {
    const low = rest & 127;
    if (rest >> 6 === 0 || rest >> 6 === -1) return [...bytes, low];
    bytes.push(low | 128);
  }
}

/** Returns the encoding of a string: its length and its bytes. */
export const textBytes = (text) => [...leb(Buffer.byteLength(text)), ...Buffer.from(text)];
export const vectorBytes = (elements) => [...leb(elements.length), ...elements.flat()];

/** Returns a section. */
export function section(id, content) {
  return Buffer.concat([Buffer.from([id, ...leb(content.length)]), Buffer.from(content)]);
}

export const kSection = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  export: 7,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
};

/** The kinds of imports. */
const kFunctionKind = 0;
export const kTableKind = 1;
const kMemoryKind = 2;

/** The type of the elements of a table of functions. */
export const kFuncref = 0x70;

// Moves past the description of an import.
function skipImport(cursor, kind) {
  if (kind === kFunctionKind) {
    cursor.number();
  } else if (kind === kTableKind || kind === kMemoryKind) {
    if (kind === kTableKind) cursor.byte(); // the type of the elements
    const hasMaximum = cursor.number() & 1;
    cursor.number();
    if (hasMaximum) cursor.number();
  } else {
    cursor.at += 2; // a global's type and mutability, or a tag's attribute and type
  }
}

/** The first bytes of every module. */
export const kHeader = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/** Reads a module: its sections, and the code, type and name of every function. */
export class ModuleReader {
  #cursor;
  /** The content and the whole bytes of each section, by its ID, or by its name for custom sections. */
  sections = new Map();
  wholes = new Map();
  functions = [];
  importedFunctions = 0;
  /** The names of functions, imported ones first. */
  names = new Map();

  constructor(bytes) {
    this.bytes = bytes;
    const cursor = new Cursor(bytes, 8);
    this.#cursor = cursor;
    while (cursor.at < bytes.length) {
      const from = cursor.at;
      const id = cursor.byte();
      const size = cursor.number();
      const end = cursor.at + size;
      const key = id === kSection.custom ? cursor.text() : id;
      this.sections.set(key, bytes.subarray(cursor.at, end));
      this.wholes.set(key, bytes.subarray(from, end));
      if (key === "name") this.#readNames(end);
      if (id === kSection.import)
        this.importedFunctions = this.imports().filter(({ kind }) => kind === kFunctionKind).length;
      if (id === kSection.function)
        this.functions = cursor.vector(() => ({ type: cursor.number() }));
      if (id === kSection.code) this.#readCode();
      cursor.at = end;
    }
    for (const [i, body] of this.functions.entries())
      body.name = this.names.get(i + this.importedFunctions) ?? "";
  }

  /** Returns where the content of a section starts in the module. */
  startOf(key) {
    return this.sections.get(key).byteOffset - this.bytes.byteOffset;
  }

  #readNames(end) {
    const cursor = this.#cursor;
    while (cursor.at < end) {
      const kind = cursor.byte();
      const size = cursor.number();
      const next = cursor.at + size;
      if (kind === 1) cursor.vector(() => this.names.set(cursor.number(), cursor.text()));
      cursor.at = next;
    }
  }

  /** Returns the imports: module, name, kind and the bytes of the description. */
  imports() {
    const content = this.sections.get(kSection.import);
    if (content === undefined) return [];
    const cursor = new Cursor(content);
    return cursor.vector(() => {
      const module = cursor.text();
      const name = cursor.text();
      const kind = cursor.byte();
      const start = cursor.at;
      skipImport(cursor, kind);
      return { module, name, kind, description: [...content.subarray(start, cursor.at)] };
    });
  }

  /** Returns the exports: name, kind and index. */
  exports() {
    const cursor = new Cursor(this.sections.get(kSection.export));
    return cursor.vector(() => ({
      name: cursor.text(),
      kind: cursor.byte(),
      index: cursor.number(),
    }));
  }

  #readCode() {
    const cursor = this.#cursor;
    const start = cursor.at;
    for (let count = cursor.number(), i = 0; i < count; ++i) {
      const size = cursor.number();
      // Linkers give positions relative to the section.
      const from = cursor.at - start;
      this.functions[i] ??= {};
      this.functions[i].from = from;
      this.functions[i].code = this.bytes.subarray(cursor.at, cursor.at + size);
      cursor.at += size;
    }
  }

  /** Returns the module with other sections: `changes` has the whole section by its key, or null to remove it. */
  with(changes) {
    const sections = new Map([
      ...this.wholes,
      ...Object.entries(changes).map(([key, bytes]) => [keyOf(key), bytes]),
    ]);
    return Buffer.concat([kHeader, ...[...sections.values()].filter((bytes) => bytes !== null)]);
  }

  /** Returns the function types: for each, the codes of its parameters and results. */
  types() {
    const cursor = new Cursor(this.sections.get(kSection.type));
    return cursor.vector(() => {
      cursor.byte(); // the form: a function
      return {
        parameters: cursor.vector(() => cursor.byte()),
        results: cursor.vector(() => cursor.byte()),
      };
    });
  }

  /** Returns a map from the slots of the table to the indices of the functions in them. */
  table() {
    const slots = new Map();
    const content = this.sections.get(kSection.element);
    if (content === undefined) return slots;
    const cursor = new Cursor(content);
    cursor.vector(() => {
      const kind = cursor.number();
      if (kind !== kIndices && kind !== kExpressions)
        throw new Error(`expected active segments of elements, got kind ${kind}`);
      const at = constant(cursor);
      cursor.vector((_, i) => {
        const index = kind === kIndices ? cursor.number() : functionIn(cursor);
        if (index !== null) slots.set(at + i, index);
      });
    });
    return slots;
  }

  /** Returns the size of the module's own table. */
  tableSize() {
    const cursor = new Cursor(this.sections.get(kSection.table));
    cursor.number(); // the number of tables
    cursor.byte(); // the type of the elements
    cursor.number(); // whether there is a maximum
    return cursor.number();
  }

  /** Returns the data segments: address (undefined: passive), content, and the content's position in the module. */
  segments() {
    const cursor = new Cursor(this.bytes, this.startOf(kSection.data));
    return cursor.vector(() => {
      const isPassive = cursor.number() === 1;
      const address = isPassive ? undefined : constant(cursor);
      const size = cursor.number();
      const at = cursor.at;
      cursor.at += size;
      return { address, at, content: this.bytes.subarray(at, at + size) };
    });
  }
}

// The kinds of active element segments: of indices of functions, or of constant expressions.
const kIndices = 0;
const kExpressions = 4;

// Reads the expression of an element: ref.func with an index, or ref.null with a type.
function functionIn(cursor) {
  const isNull = cursor.byte() === 0xd0;
  const index = cursor.number();
  cursor.byte(); // end
  return isNull ? null : index;
}

/** Returns the import section of a module, with each import changed by `change`. */
export function importSection(module, change) {
  const entries = module.imports().map((entry) => {
    const changed = change(entry);
    const names = [changed.module, changed.name].flatMap(textBytes);
    return [...names, changed.kind, ...changed.description];
  });
  return section(kSection.import, vectorBytes(entries));
}

/** Returns a section of exports. */
export function exportSection(exports) {
  const entries = exports.map(({ name, kind, index }) => [...textBytes(name), kind, ...leb(index)]);
  return section(kSection.export, vectorBytes(entries));
}

/** Returns an element section that fills slots of the table, a map from slots to the indices of functions. */
export function elementSection(table) {
  const runs = [];
  for (const [slot, index] of [...table].sort(([a], [b]) => a - b)) {
    const run = runs.at(-1);
    if (run && run.slot + run.indices.length === slot) run.indices.push(leb(index));
    else runs.push({ slot, indices: [leb(index)] });
  }
  const segments = runs.map(({ slot, indices }) => [
    ...[kIndices, 0x41, ...signedLeb(slot), 0x0b],
    ...vectorBytes(indices),
  ]);
  return section(kSection.element, vectorBytes(segments));
}

// Object keys are strings, but the keys of sections are numbers, except for custom ones.
const keyOf = (key) => (/^\d+$/.test(key) ? Number(key) : key);

// Reads the constant expression of an offset: i32.const, value, end.
function constant(cursor) {
  const opcode = cursor.byte();
  if (opcode !== 0x41) throw new Error(`expected i32.const, got opcode ${opcode}`);
  const value = cursor.signed();
  cursor.byte();
  return value;
}
