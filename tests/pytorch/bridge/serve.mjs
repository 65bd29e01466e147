// Serves the package to a Python process: node --expose-gc serve.mjs READ_FD WRITE_FD FIRST_NUMBER
//
// Python sends a request and waits for its answer; meanwhile it serves the functions that JavaScript calls. Such a call waits for the
// function's result, and serves the requests that it makes. So both stacks grow and shrink together, as if they were one.

import * as eg from "edgegrad";
import { requests } from "./requests.mjs";
import { PythonError, Values } from "./values.mjs";
import { Wire } from "./wire.mjs";

const [readFd, writeFd, first] = process.argv.slice(2).map(Number);
const wire = new Wire(readFd, writeFd);

// Warnings go to Python with the next message, in which they become its warnings.
const warnings = [];
for (const level of ["debug", "info", "log", "warn", "error"])
  console[level] = (...args) => warnings.push(args.map(String).join(" "));

function send(message) {
  if (warnings.length > 0) message.w = warnings.splice(0);
  wire.send(message);
}

const values = new Values(first, callPython);
const answer = requests(values, {
  callPython,
  within(...given) {
    send({ entered: true, a: given.map(values.encode) });
    return serve();
  },
});

function callPython(id, args) {
  send({ cb: id, a: args.map(values.encode) });
  return serve();
}

/** Serves requests until Python returns from the function or block that it is in. */
function serve() {
  for (;;) {
    const message = receive();
    values.release(message.d);
    if (message.t === "return") return values.decode(message.v) ?? undefined;
    if (message.t === "raise") throw values.raised(message.id, message.s);
    respond(message);
  }
}

function receive() {
  const message = wire.receive();
  if (message === null) process.exit(0);
  return message;
}

function respond(message) {
  let reply;
  try {
    reply = { ok: answer(message) };
  } catch (error) {
    reply = { err: described(error) };
  }
  send({ ...reply, g: values.takeGone() });
}

/** Responds to a request, with what its promise brings if it returns one: only where no function is running. */
async function respondLater(message) {
  if (message.t !== "later") return respond(message);
  let reply;
  try {
    reply = { ok: values.encode(await answer.later(message)) };
  } catch (error) {
    reply = { err: described(error) };
  }
  send({ ...reply, g: values.takeGone() });
}

/** Describes an error: by the exception of Python that caused it if there is one, otherwise by its code and text. */
function described(error) {
  for (let cause = error; cause; cause = cause.cause)
    if (cause instanceof PythonError) return { python: cause.pythonId };
  if (error instanceof eg.EdgeGradError) return { code: error.code, m: error.message };
  return { name: String(error?.name), m: String(error?.message ?? error), stack: error?.stack };
}

// Finalizers run between tasks, so the loop gives way to them now and then, and on request until nothing more is found.
const kRequestsPerTask = 300;
// Python lets go of large tensors faster than JavaScript notices.
const kRequestsPerLook = 10;
const kMostBytes = 1e9;
const nextTask = () => new Promise((resolve) => setImmediate(resolve));

async function collectGarbage() {
  for (let round = 0; round < 3; round++) {
    globalThis.gc();
    await nextTask();
  }
}

await eg.init({ threads: 1 });
eg.setWarnAlways(true);
send({ ok: "ready" });
for (let count = 1; ; count++) {
  const message = receive();
  values.release(message.d);
  if (message.t === "collect") {
    await collectGarbage();
    send({ ok: values.encode(eg.memory()), g: values.takeGone() });
    continue;
  }
  await respondLater(message);
  if (count % kRequestsPerTask === 0) await nextTask();
  if (count % kRequestsPerLook === 0 && eg.memory().cpuBytes > kMostBytes) await collectGarbage();
}
