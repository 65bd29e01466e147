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

  const runJob = async ({ url, name, args }) => {
    await started;
    globalThis[Symbol.for("edgegrad.host")] = host;
    const exports = await import(/* @vite-ignore */ url);
    const fn = exports[name];
    if (typeof fn !== "function") {
      throw new TypeError(`[spawn] ${url} exports no function "${name}"`);
    }
    if (host.run !== null) return { value: await host.run(fn, args) };
    if (args.hasTensors) {
      throw new TypeError(`[spawn] ${url} was given tensors but does not import edgegrad`);
    }
    return { value: { values: await fn(...args.values), hasTensors: false } };
  };

  const serve = (port) => {
    port.onmessage = async ({ data }) => {
      let answer;
      try {
        answer = await runJob(data);
      } catch (error) {
        answer = { error, name: error?.name, code: error?.code };
      }
      try {
        port.postMessage(answer);
      } catch (error) {
        // What cannot be sent: a function in a result, an error that holds one.
        const reason = "error" in answer ? answer.error : error;
        port.postMessage({ error: new Error(reason?.stack ?? String(reason)) });
      }
    };
  };

  const receive = (message) => {
    if (message["edgegradPort"]) serve(message["edgegradPort"]);
  };
  if (ENVIRONMENT_IS_NODE) worker_threads["parentPort"].on("message", receive);
  else self.addEventListener("message", (event) => receive(event.data));
}
