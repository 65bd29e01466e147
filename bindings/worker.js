// Part of the module's script (--post-js). In an engine worker it runs functions for eg.spawn(): the
// main thread sends a port, and over it one job after the other. A job names an export of a user's
// module, or a function that the script of a user's own worker gave to eg.expose().
//
// A user's module that imports edgegrad finds this worker's engine under Symbol.for("edgegrad.host")
// and adds `run` there, which knows about tensors (web/src/threads/host.ts); in a bundle init() and
// expose() do that. A module that does not import it can only be given plain values. A user's own worker brings its host along.
//
// On the thread that loaded the module it ends threads.

if (ENVIRONMENT_IS_PTHREAD) {
  // For web/src/runtime/workers.ts: the script was found and runs.
  if (!ENVIRONMENT_IS_NODE && !Module["isThread"]) postMessage({ edgegradRuns: true });

  let markStarted;
  const started = new Promise((resolve) => (markStarted = resolve));
  Module["threadStarted"] = markStarted;

  // web/src/threads/host.ts says what belongs to it.
  const host = Module["host"] ?? { run: null };
  host.copies = [];
  host.replies = new Map();
  const hasStarted = started.then(() => {
    // A worker is given its memory and its exports after the script has filled in the module.
    host.module = Object.assign(Module, { wasmMemory, wasmExports });
    globalThis[Symbol.for("edgegrad.host")] = host;
    host.started?.();
  });

  const invalid = (message) =>
    Object.assign(new Error(`[spawn] ${message}`), { name: "EdgeGradError", code: "InvalidArgument" });

  // What is thrown may be anything: a proxy that was revoked, an object without text.
  const attempt = (read) => {
    try {
      return read();
    } catch {}
  };

  // Cloning an error keeps neither the name of its class nor its code.
  const failure = (error) => ({
    error,
    name: attempt(() => `${error.name}`),
    code: attempt(() => `${error.code}`),
  });

  // What cannot be cloned, as text.
  const described = (error) => {
    const text = attempt(() => `${error.stack ?? String(error)}`) ?? attempt(() => String(error));
    return failure(new Error(text ?? "the function threw what can be neither sent nor described"));
  };

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

  // Calls `post` with what the function returns.
  const runJob = async (job, post) => {
    await hasStarted;
    const fn = await functionOf(job);
    const { url, args } = job;
    if (host.run !== null) return host.run(fn, args, post);
    if (args.handles.length > 0) {
      throw invalid(
        `${url} was given tensors but does not import edgegrad; a bundle has to call eg.init() or eg.expose(), too.`,
      );
    }
    post({ values: [await fn(...args.values)], handles: [] });
  };

  const answerTo = async (port, job) => {
    let answer;
    try {
      await runJob(job, (value) => {
        try {
          port.postMessage({ value });
        } catch (error) {
          const reason = attempt(() => `${error.message}`) ?? "";
          throw invalid(`the result of "${job.name}" cannot be sent: ${reason}`);
        }
      });
      return;
    } catch (error) {
      answer = error;
    }
    try {
      port.postMessage(failure(answer));
    } catch {
      port.postMessage(described(answer));
    }
  };

  // Whoever waits for a function of this thread must not wait for ever.
  const closeInbox = () => wasmExports["eg_leaveThread"]?.();

  // Ends this thread in good order, unless others may still call functions that it registered.
  const leave = (port) => {
    if (!host.copies.every((copy) => copy.mayLeave())) {
      port.postMessage({ stays: true });
      return;
    }
    for (const copy of host.copies) copy.leave();
    closeInbox();
    wasmExports["eg_releaseHandlesOf"](_pthread_self());
    __emscripten_thread_exit(0);
  };

  // Holds a lock of the page for as long as this worker is there: others have no other way to know when it is gone.
  const holdLock = (name) =>
    new Promise((resolve) => {
      const request = async () => {
        await navigator.locks.request(name, () => {
          resolve(true);
          return new Promise(() => {});
        });
      };
      request().catch(() => resolve(false));
    });

  const serve = async (port, lock) => {
    if (ENVIRONMENT_IS_NODE) {
      process.on("exit", closeInbox);
    } else {
      // Nobody hears of a worker that closes itself, unless it says so.
      const close = self.close.bind(self);
      self.close = () => {
        closeInbox();
        port.postMessage({ ended: "it closed itself" });
        close();
      };
    }
    host.port = port;
    const isLocked = lock !== undefined && (await holdLock(lock));
    await hasStarted;
    port.postMessage({ serves: true, isLocked });
    let last = Promise.resolve();
    port.onmessage = ({ data }) => {
      if (data.leave) leave(port);
      else if (data.spawned !== undefined) host.replies.get(data.spawned)?.(data);
      else last = last.then(() => answerTo(port, data));
    };
  };

  const receive = (message) => {
    if (message?.["edgegradPort"]) serve(message["edgegradPort"], message["lock"]);
  };
  if (ENVIRONMENT_IS_NODE) worker_threads["parentPort"].on("message", receive);
  else self.addEventListener("message", (event) => receive(event.data));
  Module["threadListens"]?.();
} else {
  const forget = (worker) => {
    for (const workers of [PThread.unusedWorkers, PThread.runningWorkers]) {
      const place = workers.indexOf(worker);
      if (place >= 0) workers.splice(place, 1);
    }
  };

  // The worker of a thread that ended is used for the next one, but not when it was one of eg.spawn(): that has loaded
  // modules of the user, who wants their memory back.
  const returnWorker = PThread.returnWorkerToPool;
  PThread.returnWorkerToPool = (worker) => {
    // It was ended from outside at the same time.
    if (worker === undefined) return;
    worker.onLeft?.();
    returnWorker(worker);
    if (worker.onLeft === undefined) return;
    forget(worker);
    terminateWorker(worker);
  };

  Module["forgetWorker"] = (worker) => {
    forget(worker);
    delete PThread.pthreads[worker.pthread_ptr];
  };

  Module["stopThreads"] = () => {
    const workers = [...PThread.runningWorkers, ...PThread.unusedWorkers];
    PThread.terminateAllThreads();
    // The promise of Atomics.waitAsync, by which other threads wake this one, would hold the module and its memory for
    // ever. It is woken, and without a thread it does not wait again.
    const thread = _pthread_self();
    _pthread_self = () => 0;
    Atomics.notify(HEAP32, thread >>> 2);
    return Promise.all(workers.map((worker) => worker.terminate()));
  };
}
