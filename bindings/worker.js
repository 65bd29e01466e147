// Part of the module's script (--post-js). In an engine worker it runs functions for eg.spawn(): the
// main thread sends a port, and through it one job after the other. A job names an export of a user's
// module, or a function that the script of a user's worker passed to eg.expose().
//
// A user's module that imports edgegrad finds this worker's engine under Symbol.for("edgegrad.host")
// and adds `run` there, which handles tensors (web/src/threads/host.ts); in a bundle init() and
// expose() do that. A module that does not import edgegrad can only receive plain values. A worker that the
// user constructed has already created the host.
//
// On the thread that loaded the module, this script ends threads.

if (ENVIRONMENT_IS_PTHREAD) {
  // Tells web/src/runtime/threads/workers.ts that the script was found and runs.
  if (!ENVIRONMENT_IS_NODE && !Module["isThread"]) postMessage({ edgegradRuns: true });

  let markStarted;
  const started = new Promise((resolve) => (markStarted = resolve));
  Module["threadStarted"] = markStarted;

  // web/src/threads/host.ts declares its members.
  const host = Module["host"] ?? { run: null };
  host.copies = [];
  host.replies = new Map();
  const hasStarted = started.then(() => {
    // In a worker, the memory and the exports are only available once the thread has started.
    host.module = Object.assign(Module, { wasmMemory, wasmExports });
    globalThis[Symbol.for("edgegrad.host")] = host;
    host.started?.();
  });

  const invalid = (message) =>
    Object.assign(new Error(`[spawn] ${message}`), { name: "EdgeGradError", code: "InvalidArgument" });

  // The thrown value may be anything, such as a revoked proxy or an object that cannot be converted to a string.
  const attempt = (read) => {
    try {
      return read();
    } catch {}
  };

  // Cloning an error preserves neither the name of its class nor its code.
  const failure = (error) => ({
    error,
    name: attempt(() => `${error.name}`),
    code: attempt(() => `${error.code}`),
  });

  // Describes an error that cannot be cloned as text.
  const described = (error) => {
    const text = attempt(() => `${error.stack ?? String(error)}`) ?? attempt(() => String(error));
    return failure(new Error(text ?? "the function threw a value that can be neither sent nor described"));
  };

  // Matches the browsers' errors for a module name that is not a URL: bundlers and import maps do not apply to this import.
  const kUnresolved = /specifier|does not resolve/;
  const importModule = (url) =>
    import(/* @vite-ignore */ url).catch((error) => {
      if (ENVIRONMENT_IS_NODE || !kUnresolved.test(error?.message)) throw error;
      throw invalid(
        `${url} cannot be imported at run time: ${error.message} Pass a Worker to spawn() instead of a URL: bundlers ` +
          "see its construction and include its script, which must call eg.expose({ ... }).",
      );
    });

  const functionOf = async ({ url, name }) => {
    const functions = url === null ? host.functions : await importModule(url);
    const fn = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (typeof fn === "function") return fn;
    throw invalid(
      url === null
        ? `the worker exposes no function "${name}": its script must call eg.expose({ ${name} }).`
        : `${url} exports no function "${name}".`,
    );
  };

  const enter = invokeEntryPoint;
  invokeEntryPoint = (...given) => {
    Module["catchUpWithParts"]();
    return enter(...given);
  };
  const answerMailbox = checkMailbox;
  checkMailbox = () => {
    Module["catchUpWithParts"]();
    if (!wasmExports["eg_beginMessages"]()) return;
    answerMailbox();
    wasmExports["eg_endMessages"]();
  };

  // Runs the function of a job and calls `post` with its result.
  const runJob = async (job, post) => {
    await hasStarted;
    Module["catchUpWithParts"]();
    const fn = await functionOf(job);
    const { url, args } = job;
    if (host.run !== null) return host.run(fn, args, post);
    if (args.handles.length > 0) {
      throw invalid(
        `${url} received tensors but does not import edgegrad. A bundle must also call eg.init() or eg.expose().`,
      );
    }
    post({ values: [await fn(...args.values)], handles: [] });
  };

  // The main thread may have taken a job back; web/src/threads/claim.ts has the other half.
  const isTakenBack = ({ claim }) => Atomics.compareExchange(claim, 0, 0, 1) !== 0;

  const answerTo = async (port, job) => {
    if (isTakenBack(job)) return;
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

  // Other threads must not wait forever for a function of this thread.
  const closeInbox = () => wasmExports["eg_closeInbox"]?.();

  // Ends this thread normally, unless other threads may still call functions that it registered.
  const leave = (port) => {
    if (!host.copies.every((copy) => copy.mayLeave())) {
      port.postMessage({ stays: true });
      return;
    }
    for (const copy of host.copies) copy.leave();
    wasmExports["eg_leaveThread"]();
    wasmExports["eg_releaseHandlesOf"](_pthread_self());
    __emscripten_thread_exit(0);
  };

  // Holds a Web Lock while this worker exists. This is the only way for other threads to find out when it has ended.
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
      // A browser sends no event when a worker closes itself, so the worker reports it.
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
      const index = workers.indexOf(worker);
      if (index >= 0) workers.splice(index, 1);
    }
  };

  // A worker takes some megabytes, so that only a few wait for the next thread. A worker of eg.spawn() is never used again: it has
  // loaded modules of the user, whose memory should be freed.
  const kMostUnused = 2;
  const returnWorker = PThread.returnWorkerToPool;
  PThread.returnWorkerToPool = (worker) => {
    // The worker was terminated from outside at the same time.
    if (worker === undefined) return;
    worker.onLeft?.();
    returnWorker(worker);
    if (worker.onLeft === undefined && PThread.unusedWorkers.length <= kMostUnused) return;
    forget(worker);
    worker.isDismissed = true;
    terminateWorker(worker);
  };

  // Frees the memory of a thread that has ended without having told so.
  Module["freeThread"] = (thread) => __emscripten_thread_free_data(thread);

  Module["forgetWorker"] = (worker) => {
    forget(worker);
    delete PThread.pthreads[worker.pthread_ptr];
  };

  Module["stopThreads"] = () => {
    const workers = [...PThread.runningWorkers, ...PThread.unusedWorkers];
    PThread.terminateAllThreads();
    // The promise of Atomics.waitAsync, through which other threads wake this one, would keep the module and its memory alive
    // forever. So it is woken here; without a thread it does not wait again.
    const thread = _pthread_self();
    _pthread_self = () => 0;
    Atomics.notify(HEAP32, thread >>> 2);
    return Promise.all(workers.map((worker) => worker.terminate()));
  };
}
