// Serves what `install` of edgegrad/pyodide registers to a Python process: node --expose-gc serve.mjs READ_FD WRITE_FD
//
// `pipes/_edgegrad.py` is the other end, and says how the two take turns.

import * as eg from "edgegrad";
import { install } from "edgegrad/pyodide";
import { Wire } from "../bridge/wire.mjs";

const [readFd, writeFd] = process.argv.slice(2).map(Number);
const wire = new Wire(readFd, writeFd);

// Warnings go to Python with the next message, in which they become its warnings.
const warnings = [];
for (const level of ["debug", "info", "log", "warn", "error"])
  console[level] = (...args) => warnings.push(args.map(String).join(" "));

/** An exception of Python on its way through JavaScript. */
class PythonError extends Error {
  constructor(number, text) {
    super(text);
    this.number = number;
  }
}

// Functions of Python that JavaScript has let go, and calls of them while Python was not waiting.
const gone = [];
const later = [];
const collected = new FinalizationRegistry((number) => gone.push(number));
let isPythonWaiting = false;

function send(message) {
  if (warnings.length > 0) message.w = warnings.splice(0);
  if (gone.length > 0) message.gone = gone.splice(0);
  if (later.length > 0 && message.cb === undefined) message.later = later.splice(0);
  wire.send(message);
}

/** Returns the function that calls a function of Python. */
function functionOf(number) {
  const call = (...args) => {
    const given = args.map(encode);
    if (!isPythonWaiting) return later.push([number, given]);
    send({ cb: number, a: given });
    for (;;) {
      const message = receive();
      if (message.call !== undefined) respond(message);
      else if (message.raised !== undefined) throw new PythonError(message.raised, message.s);
      else return decode(message.ok);
    }
  };
  // Of one function of Python there is one object here, so that a copy is the same.
  call.copy = () => call;
  call.destroy = () => undefined;
  collected.register(call, number);
  return call;
}

const kViews = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array,
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  u64: BigUint64Array,
};

/** Returns what stands for a buffer of Python: a copy of its bytes, which remains the same from view to view. */
function bufferOf(text) {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  const buffer = {
    copy: () => buffer,
    getBuffer: (type) => ({ data: new kViews[type](bytes.buffer), release: () => undefined }),
  };
  return buffer;
}

function decode(value) {
  if (typeof value !== "object" || value === null) return value ?? undefined;
  if (value.x !== undefined) return Number(value.x);
  if (value.i !== undefined) return BigInt(value.i);
  if (value.l !== undefined) return value.l.map(decode);
  if (value.f !== undefined) return functionOf(value.f);
  return bufferOf(value.b);
}

// Functions that Python holds.
const functions = new Map();
let lastFunction = 0;

function encode(value) {
  if (typeof value === "number")
    return Number.isFinite(value) && !Object.is(value, -0)
      ? value
      : { x: Object.is(value, -0) ? "-0.0" : String(value).replace("Infinity", "inf") };
  if (typeof value === "bigint") return { i: String(value) };
  if (typeof value === "function") {
    functions.set(++lastFunction, value);
    return { f: lastFunction };
  }
  if (ArrayBuffer.isView(value)) {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return { t: value.constructor.name, b: bytes.toString("base64") };
  }
  return value ?? null;
}

let module;
await install(
  { registerJsModule: (_, given) => (module = given) },
  {
    engine: eg,
    init: { threads: 1 },
    wheel: null,
  },
);
eg.setWarnAlways(true);

// The numbers that a call leaves in Python's array.
let scratch;
const kNumbers = { shape: (count) => count, value: () => 1 };

function callOf({ call, a }) {
  const args = a.map(decode);
  if (call === "scratch") scratch = args[0].getBuffer("f64").data;
  const made = typeof call === "number" ? functions.get(call)(...args) : module[call](...args);
  const count = kNumbers[call]?.(made) ?? 0;
  return {
    ok: encode(made),
    ...(count > 0 && { s: Array.from(scratch.subarray(0, count), encode) }),
  };
}

function receive() {
  const message = wire.receive();
  if (message === null) process.exit(0);
  isPythonWaiting = true;
  for (const number of message.r ?? []) functions.delete(number);
  if (message.d) module.drop(...message.d);
  for (const one of message.before ?? []) callOf(one);
  return message;
}

function respond(message) {
  let reply;
  try {
    reply = callOf(message);
  } catch (error) {
    reply = { err: described(error) };
  }
  send(reply);
}

/** Describes an error: by the exception of Python that caused it if there is one. */
function described(error) {
  for (let cause = error; cause; cause = cause.cause)
    if (cause instanceof PythonError) return { raised: cause.number, name: "", m: cause.message };
  const { name = "Error", message = error, code } = error ?? {};
  return { name, m: String(message), code };
}

// Finalizers run between tasks, so the loop gives way to them now and then, and on request until nothing more is found.
const kRequestsPerTask = 300;
const nextTask = () => new Promise((resolve) => setImmediate(resolve));

async function giveWay(rounds) {
  isPythonWaiting = false;
  for (let round = 0; round < rounds; round++) {
    if (rounds > 1) globalThis.gc();
    await nextTask();
  }
}

send({ ok: "ready" });
for (let count = 1; ; count++) {
  const message = receive();
  if (message.collect) {
    await giveWay(3);
    send({});
    continue;
  }
  respond(message);
  if (count % kRequestsPerTask === 0) await giveWay(1);
}
