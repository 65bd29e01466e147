// Part of the module's script (--post-js). In an engine worker it runs functions for eg.spawn(): the
// main thread sends a port, and over it one job after the other. A job names an export of a user's
// module, or a function that the script of a user's own worker gave to eg.expose().
//
// A user's module that imports edgegrad finds this worker's engine under Symbol.for("edgegrad.host")
// and adds `run` there, which knows about tensors (web/src/threads/host.ts); in a bundle init() and
// expose() do that. A module that does not import it can only be given plain values. A user's own worker brings its host along.

if (ENVIRONMENT_IS_PTHREAD) {
  // For web/src/runtime/workers.ts: the script was found and runs.
  if (!ENVIRONMENT_IS_NODE && !Module["isThread"]) postMessage({ edgegradRuns: true });

  let markStarted;
  const started = new Promise((resolve) => (markStarted = resolve));
  Module["threadStarted"] = markStarted;

  const host = Module["host"] ?? { run: null };
  const hasStarted = started.then(() => {
    // A worker is given its memory and its exports after the script has filled in the module.
    host.module = Object.assign(Module, { wasmMemory, wasmExports });
    globalThis[Symbol.for("edgegrad.host")] = host;
    host.started?.();
  });

  const invalid = (message) =>
    Object.assign(new Error(`[spawn] ${message}`), { name: "EdgeGradError", code: "InvalidArgument" });

  // Cloning an error keeps neither the name of its class nor its code.
  const failure = (error) => ({ error, name: error?.name, code: error?.code });

  // What browsers say of a name that is no address: bundlers and import maps do not reach what is imported here.
  const kUnresolved = /specifier|does not resolve/;
  const importModule = (url) =>
    import(/* @vite-ignore */ url).catch((error) => {
      if (ENVIRONMENT_IS_NODE || !kUnresolved.test(error?.message)) throw error;
      throw invalid(
        `${url} cannot be imported as it is: ${error.message} Give spawn a Worker instead of an address: ` +
          "bundlers see where it is constructed. Its script calls eg.expose({ ... }).",
      );
    });

  const functionOf = async ({ url, name }) => {
    const functions = url === null ? host.functions : await importModule(url);
    const fn = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (typeof fn === "function") return fn;
    throw invalid(
      url === null
        ? `the worker exposes no function "${name}": it has to call eg.expose({ ${name} }).`
        : `${url} exports no function "${name}".`,
    );
  };

  const runJob = async (job) => {
    await hasStarted;
    const fn = await functionOf(job);
    const { url, args } = job;
    if (host.run !== null) return { value: await host.run(fn, args) };
    if (args.hasTensors) {
      throw invalid(
        `${url} was given tensors but does not import edgegrad; a bundle has to call eg.init() or eg.expose(), too.`,
      );
    }
    return { value: { values: await fn(...args.values), hasTensors: false } };
  };

  const answerTo = async (port, job) => {
    let answer;
    try {
      answer = await runJob(job);
    } catch (error) {
      answer = failure(error);
    }
    try {
      port.postMessage(answer);
    } catch (error) {
      const isResult = "value" in answer;
      port.postMessage(
        isResult
          ? failure(invalid(`the result of "${job.name}" cannot be sent: ${error.message}`))
          : { error: new Error(answer.error?.stack ?? String(answer.error)) },
      );
    }
  };

  const serve = (port) => {
    // Whoever waits for a function of this thread must not wait for ever.
    const leave = () => wasmExports["eg_leaveThread"]?.();
    if (ENVIRONMENT_IS_NODE) {
      process.on("exit", leave);
    } else {
      // Nobody hears of a worker that closes itself, unless it says so.
      const close = self.close.bind(self);
      self.close = () => {
        leave();
        port.postMessage({ ended: "it closed itself" });
        close();
      };
    }
    let last = Promise.resolve();
    port.onmessage = ({ data }) => {
      last = last.then(() => answerTo(port, data));
    };
  };

  const receive = (message) => {
    if (message?.["edgegradPort"]) serve(message["edgegradPort"]);
  };
  if (ENVIRONMENT_IS_NODE) worker_threads["parentPort"].on("message", receive);
  else self.addEventListener("message", (event) => receive(event.data));
  Module["threadListens"]?.();
}
