// Makes the stubs of the core: for each function of another part that may be called before that part is loaded, a function in its
// slot of the table. It loads the part, which replaces it, and calls the slot again.

import {
  elementSection,
  kFuncref,
  kHeader,
  kSection,
  kTableKind,
  leb,
  section,
  signedLeb,
  textBytes,
  vectorBytes,
} from "../wasm_module.mjs";

const kTable = "__indirect_function_table";

// Codes of the binary format.
const kFunctionForm = 0x60;
const kI32 = 0x7f;
const kOp = { localGet: 0x20, const: 0x41, call: 0x10, callIndirect: 0x11, end: 0x0b };

/**
 * Returns a module with stubs, of which each has a slot, the number of its part, and its type. It imports the table of the core,
 * and the function `load` of the module "parts".
 */
export function stubModule(stubs) {
  const types = [{ parameters: [kI32], results: [] }];
  const numbers = new Map();
  const numberOf = (type) => {
    const key = `${type.parameters}>${type.results}`;
    if (!numbers.has(key)) numbers.set(key, types.push(type) - 1);
    return numbers.get(key);
  };
  const functions = stubs.map(({ slot, part, type }) => {
    const number = numberOf(type);
    const parameters = type.parameters.flatMap((_, i) => [kOp.localGet, ...leb(i)]);
    // It has no locals. Function 0 is `load`, and table 0 that of the core.
    const code = [0, kOp.const, ...signedLeb(part), kOp.call, 0];
    code.push(...parameters, kOp.const, ...signedLeb(slot), kOp.callIndirect, ...leb(number), 0);
    code.push(kOp.end);
    return { number, code: [...leb(code.length), ...code] };
  });
  const imports = [
    [...textBytes("parts"), ...textBytes("load"), 0, 0],
    [...textBytes("core"), ...textBytes(kTable), kTableKind, kFuncref, 0, 0],
  ];
  const typeBytes = types.map(({ parameters, results }) => [
    kFunctionForm,
    ...vectorBytes(parameters),
    ...vectorBytes(results),
  ]);
  return Buffer.concat([
    kHeader,
    section(kSection.type, vectorBytes(typeBytes)),
    section(kSection.import, vectorBytes(imports)),
    section(kSection.function, vectorBytes(functions.map(({ number }) => leb(number)))),
    elementSection(new Map(stubs.map(({ slot }, i) => [slot, i + 1]))),
    section(kSection.code, vectorBytes(functions.map(({ code }) => code))),
  ]);
}
