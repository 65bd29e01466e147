// Part of the module's script (--post-js). In an engine worker it runs exports of a user's modules
// for eg.spawn(): the main thread sends a port, and over it one job after the other.
//
// A user's module that imports edgegrad finds this worker's engine under Symbol.for("edgegrad.host")
// and adds `run` there, which knows about tensors (web/src/threads/host.ts). A module that does not
// import it can only be given plain values.

if (ENVIRONMENT_IS_PTHREAD) {
  let markStarted;
  const started = new Promise((resolve) => (markStarted = resolve));
  Module["threadStarted"] = markStarted;

  const host = { module: Module, run: null };
  const invalid = (message) =>
    Object.assign(new Error(`[spawn] ${message}`), { name: "EdgeGradError", code: "InvalidArgument" });

  // Cloning an error keeps neither the name of its class nor its code.
  const failure = (error) => ({ error, name: error?.name, code: error?.code });

  const runJob = async ({ url, name, args }) => {
    await started;
    // A worker is given its memory and its exports after the script has filled in the module.
    Object.assign(Module, { wasmMemory, wasmExports });
    globalThis[Symbol.for("edgegrad.host")] = host;
    const exports = await import(/* @vite-ignore */ url);
    const fn = exports[name];
    if (typeof fn !== "function") {
      throw invalid(`${url} exports no function "${name}".`);
    }
    if (host.run !== null) return { value: await host.run(fn, args) };
    if (args.hasTensors) {
      throw invalid(`${url} was given tensors but does not import edgegrad.`);
    }
    return { value: { values: await fn(...args.values), hasTensors: false } };
  };

  const serve = (port) => {
    port.onmessage = async ({ data }) => {
      let answer;
      try {
        answer = await runJob(data);
      } catch (error) {
        answer = failure(error);
      }
      try {
        port.postMessage(answer);
      } catch (error) {
        const isResult = "value" in answer;
        port.postMessage(
          isResult
            ? failure(invalid(`the result of "${data.name}" cannot be sent: ${error.message}`))
            : { error: new Error(answer.error?.stack ?? String(answer.error)) },
        );
      }
    };
  };

  const receive = (message) => {
    if (message["edgegradPort"]) serve(message["edgegradPort"]);
  };
  if (ENVIRONMENT_IS_NODE) worker_threads["parentPort"].on("message", receive);
  else self.addEventListener("message", (event) => receive(event.data));
}
