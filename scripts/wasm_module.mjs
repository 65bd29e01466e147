// Reads WebAssembly modules in binary form.

/** Reads a module: its sections, and the code and name of every function. */
export class ModuleReader {
  #bytes;
  #at = 8;
  sections = new Map();
  functions = [];
  importedFunctions = 0;

  constructor(bytes) {
    this.#bytes = bytes;
    const names = new Map();
    while (this.#at < bytes.length) {
      const id = bytes[this.#at++];
      const size = this.#number();
      const end = this.#at + size;
      this.sections.set(id, bytes.subarray(this.#at, end));
      if (id === 0 && this.#text() === "name") this.#readNames(end, names);
      if (id === 2) this.importedFunctions = this.#countImportedFunctions();
      if (id === 10) this.#readFunctions();
      this.#at = end;
    }
    for (const [i, one] of this.functions.entries())
      one.name = names.get(i + this.importedFunctions) ?? "";
  }

  #number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  #text() {
    const size = this.#number();
    this.#at += size;
    return this.#bytes.toString("utf8", this.#at - size, this.#at);
  }

  #readNames(end, names) {
    while (this.#at < end) {
      const kind = this.#bytes[this.#at++];
      const size = this.#number();
      const next = this.#at + size;
      if (kind === 1) {
        for (let count = this.#number(); count > 0; --count)
          names.set(this.#number(), this.#text());
      }
      this.#at = next;
    }
  }

  #skipLimits() {
    const hasMaximum = this.#number() & 1;
    this.#number();
    if (hasMaximum) this.#number();
  }

  #countImportedFunctions() {
    let functions = 0;
    for (let count = this.#number(); count > 0; --count) {
      this.#text();
      this.#text();
      const kind = this.#bytes[this.#at++];
      if (kind === 0) functions += 1;
      if (kind === 0) this.#number();
      if (kind === 1) this.#at += 1; // the type of a table's elements
      if (kind === 1 || kind === 2) this.#skipLimits();
      if (kind === 3 || kind === 4) this.#at += 2;
    }
    return functions;
  }

  #readFunctions() {
    for (let count = this.#number(); count > 0; --count) {
      const size = this.#number();
      this.functions.push({ code: this.#bytes.subarray(this.#at, this.#at + size) });
      this.#at += size;
    }
  }
}
