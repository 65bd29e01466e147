// Every function and class of the package, found by looking: what no recipe thinks of is called too.

import { anything } from "./hostile.mjs";

// They end, start or leave the engine that the other calls need; a tensor is not made by its class.
const kNotCalled = ["eg.init", "eg.shutdown", "eg.spawn", "eg.Tensor"];

/** The functions and classes below `eg`, and the methods of tensors, as { text, isClass }. */
export function surfaceOf(eg) {
  const found = [];
  const visit = (value, path) => {
    if (typeof value === "function") found.push({ text: path, isClass: isClass(value) });
    else if (typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`);
    }
  };
  visit({ ...eg }, "eg");
  return found.filter(({ text }) => !kNotCalled.includes(text));
}

/** The names of a tensor's methods, and those of its properties. */
export function membersOf(eg) {
  const members = Object.entries(Object.getOwnPropertyDescriptors(eg.Tensor.prototype));
  const isMethod = ([name, { value }]) => typeof value === "function" && name !== "constructor";
  return {
    methods: members.filter(isMethod).map(([name]) => name),
    properties: members.filter(([, { get }]) => get !== undefined).map(([name]) => name),
  };
}

function isClass(fn) {
  return /^class\b/.test(Function.prototype.toString.call(fn));
}

/** Calls something of the surface with arguments of any kind. */
export async function surfaceCall(random, program, { functions, methods, properties }) {
  const args = Array.from({ length: random.int(5) }, () =>
    program.tensors.length > 0 && random.chance(0.4)
      ? random.pick(program.tensors)
      : anything(random),
  ).join(", ");
  const kind = random.int(4);
  const target = random.pick(program.tensors.length > 0 ? program.tensors : ["eg.ones([2])"]);
  if (kind === 0) await settle(program, `${target}.${random.pick(methods)}(${args})`);
  else if (kind === 1) await settle(program, property(random, target, random.pick(properties)));
  else {
    const { text, isClass } = random.pick(functions);
    await settle(program, `${isClass ? "new " : ""}${text}(${args})`);
  }
}

function property(random, target, name) {
  return random.chance(0.3) ? `(${target}.${name} = ${anything(random)})` : `${target}.${name}`;
}

// What answers later is waited for.
async function settle(program, text) {
  const options = { mayChange: true };
  if (/(Async|updateBn)\(|\.(data|array)\(/.test(text))
    await program.runAsync(`await ${text}`, options);
  else program.run(text, options);
}
