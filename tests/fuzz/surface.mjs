// Calls every function and class of the package, found by reflection, including those that no recipe covers.

import { anything } from "./hostile.mjs";

// These stop, start or leave the engine that other calls need, or wait for an event, and a tensor is not created through its class.
const kNotCalled = ["eg.init", "eg.shutdown", "eg.spawn", "eg.deviceLost", "eg.Tensor"];

/** Returns the functions and classes reachable from `eg`, and the methods of tensors, as { text, isClass }. */
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

/** Returns the names of a tensor's methods and properties. */
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

/** Calls a random member of the surface with arbitrary arguments. */
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

// Awaits asynchronous calls.
async function settle(program, text) {
  const options = { mayChange: true };
  if (
    /(Async|updateBn|Torch|openSafetensors|openFolder|openFile|warmup|toCanvas|toGPUBuffer)\(|\.(data|array)\(/.test(
      text,
    )
  )
    await program.runAsync(`await ${text}`, options);
  else program.run(text, options);
}
