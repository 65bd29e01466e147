// Part of the module's script (--pre-js). A core has no code for the functions of parts that are loaded later (bindings/parts.js). This
// makes a stub for each slot of the table from which such a function may be called: it calls `load` with the number of the part, which
// puts the function into the slot, and then calls the slot again. scripts/split/stubs.mjs wrote which slots these are.
const addStubs = (memory, table, load) => {
  const kDescription = 1024;
  const kMark = 255;
  const described = new Uint8Array(memory.buffer, kDescription);
  if (described[0] !== kMark) return;
  let at = 1;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = described[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const list = (count, read) => Array.from({ length: count }, read);
  const numbers = () => list(number(), number);
  const types = list(number(), () => ({ parameters: numbers(), results: numbers() }));
  const count = number();
  const distances = list(count, number);
  const parts = list(count, number);
  const typeNumbers = list(count, number);

  const leb = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)]);
  const vector = (elements) => leb(elements.length).concat(...elements);
  const section = (id, content) => [id, ...leb(content.length)].concat(content);
  // Three bytes, of which the last one is positive: up to 2 ** 20.
  const constant = (value) => [0x41, (value & 127) | 128, ((value >> 7) & 127) | 128, value >> 14];
  const text = (letter) => [1, letter.charCodeAt(0)];

  const loadType = types.push({ parameters: [0x7f], results: [] }) - 1;
  const pass = types.map(({ parameters }) => parameters.flatMap((_, index) => [0x20, ...leb(index)]));
  const elements = [];
  let slot = 0;
  const codes = list(count, (_, index) => {
    const type = typeNumbers[index];
    slot += distances[index];
    elements.push([0, ...constant(slot), 0x0b, 1, ...leb(index + 1)]);
    const code = [0, ...constant(parts[index]), 0x10, 0].concat(pass[type], constant(slot), 0x11, leb(type), 0, 0x0b);
    return leb(code.length).concat(code);
  });
  const bytes = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0].concat(
    section(1, vector(types.map(({ parameters, results }) => [0x60].concat(vector(parameters), vector(results))))),
    section(2, vector([
      [...text("e"), ...text("l"), 0, ...leb(loadType)],
      [...text("e"), ...text("t"), 1, 0x70, 0, 0],
    ])),
    section(3, vector(typeNumbers.map(leb))),
    section(9, vector(elements)),
    section(10, vector(codes)),
  );
  const module = new WebAssembly.Module(Uint8Array.from(bytes));
  new WebAssembly.Instance(module, { e: { l: load, t: table } });
};
