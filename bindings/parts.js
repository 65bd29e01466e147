// Part of the module's script (--pre-js). A page loads the engine in parts (scripts/split/README.md): first the core, then what its
// program needs, and the rest a moment later. A function of a part that is called before that part is there is a stub, which calls
// load() below; it loads the part synchronously.
//
// Each thread has a table of functions of its own, into which it must load a part itself. Threads of a pool wait inside native code
// and receive no messages: they find the bytes in the shared memory, where the main thread has published them.
{
  // Written by `npm run generate` (scripts/split/parts.mjs): the number of the last part, and indices in SharedParts (src/base/parts.h).
  const kRest = 4;
  const kErrorIndex = 5;
  const kLoadedIndex = 6;
  const kFull = "[init] the memory is too full for a further part of the engine. Free tensors that are no longer used.";
  const loaded = new Set();
  let coreExports;

  // Emscripten's version of the exports has JavaScript functions for some of them.
  const convert = applySignatureConversions;
  applySignatureConversions = (exports) => {
    coreExports = exports;
    addStubs(exports["memory"] ?? wasmMemory, exports["__indirect_function_table"], load);
    return convert(exports);
  };

  const hasThreads = () => !(wasmMemory.buffer instanceof ArrayBuffer);
  const words = () => new Uint32Array(wasmMemory.buffer, coreExports["eg_sharedParts"]() >>> 0, 2 * (kLoadedIndex + 1));
  // Returns false if there is no room for the bytes.
  const share = (index, bytes) => {
    const address = coreExports["eg_allocatePart"](bytes.length) >>> 0;
    if (address === 0) return false;
    new Uint8Array(wasmMemory.buffer, address, bytes.length).set(bytes);
    words()[2 * index + 1] = bytes.length;
    Atomics.store(words(), 2 * index, address);
    return true;
  };
  // A copy, because shared memory can be neither compiled nor decoded.
  const shared = (index) => {
    const address = Atomics.load(words(), 2 * index);
    return address === 0 ? null : new Uint8Array(wasmMemory.buffer, address, words()[2 * index + 1]).slice();
  };
  const publish = (part, bytes) => {
    if (!hasThreads() || Atomics.load(words(), 2 * part) !== 0 || share(part, bytes)) return;
    throw new Error(kFull);
  };

  // For web/src/runtime/start/parts.ts, on the thread that started the engine. A part is only loaded when it is needed: from then on, every
  // thread must load it before it gets work from this one. Its bytes are there for other threads before the memory is full.
  const ready = new Map();
  Module["hasPart"] = (part) => loaded.has(part) || ready.has(part);
  Module["addPart"] = async (part, bytes) => {
    const module = await WebAssembly.compile(bytes);
    publish(part, bytes);
    ready.set(part, { bytes, module });
  };

  const bytesOf = (part) => {
    if (Module["readPart"]) return Module["readPart"](part);
    if (!coreExports["eg_requestPart"] || !ENVIRONMENT_IS_PTHREAD) throw new Error(`nothing can read part ${part}`);
    if (shared(part) === null) coreExports["eg_requestPart"](part);
    const bytes = shared(part);
    if (bytes !== null) return bytes;
    // There may have been no room for the error either.
    const error = shared(kErrorIndex);
    throw new Error(error === null ? kFull : new TextDecoder().decode(error));
  };
  const compiledNow = (part) => {
    const bytes = bytesOf(part);
    return { bytes, module: new WebAssembly.Module(bytes) };
  };
  const loadNow = (part) => {
    if (loaded.has(part)) return;
    // The rest assumes that all others are there; it is the last.
    if (part === kRest) for (let other = 0; other < kRest; ++other) loadNow(other);
    const { bytes, module } = ready.get(part) ?? compiledNow(part);
    if (Module["readPart"]) publish(part, bytes);
    new WebAssembly.Instance(module, { core: coreExports });
    loaded.add(part);
    ready.delete(part);
    if (Module["readPart"] && hasThreads()) Atomics.or(words(), 2 * kLoadedIndex, 1 << part);
  };

  // For bindings/parts.cpp, on the main thread: another thread waits for this. The main thread has every part that another one has,
  // because it may get pointers to its functions.
  Module["publishPart"] = (part) => {
    try {
      loadNow(part);
    } catch (error) {
      share(kErrorIndex, new TextEncoder().encode(error.message));
    }
  };

  // For src/base/parts.cpp: loads the parts whose bits are set.
  Module["loadParts"] = (bits) => {
    for (let part = 0; part <= kRest; ++part) if ((bits >> part) & 1) loadNow(part);
  };
  // Before a thread runs, and before it handles a message, after which it may use objects of the thread that sent it.
  Module["catchUpWithParts"] = () => {
    if (coreExports["eg_sharedParts"]) Module["loadParts"](Atomics.load(words(), 2 * kLoadedIndex));
  };

  // Whether JavaScript called a function of another part: on the stack are only a stub and the function that calls its slot.
  const isCalledDirectly = () => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 20;
    const isNative = new Error().stack.split("\n").map((line) => line.includes("wasm-function"));
    Error.stackTraceLimit = limit;
    const first = isNative.indexOf(true);
    return isNative.indexOf(false, first) - first <= 2;
  };

  let isFailing = false;
  const load = (part) => {
    try {
      loadNow(part);
    } catch (error) {
      // Native code throws the error, so that it passes through that code as any other. Exceptions: no native code is there to catch it, or
      // throwing needs a part itself.
      if (isFailing || isCalledDirectly()) throw error;
      isFailing = true;
      try {
        const text = new TextEncoder().encode(error.message);
        const address = coreExports["eg_frame"](Math.ceil(text.length / 8)) >>> 0;
        new Uint8Array(wasmMemory.buffer, address, text.length).set(text);
        coreExports["eg_failWithoutPart"](address, text.length);
      } finally {
        isFailing = false;
      }
    }
  };
}
