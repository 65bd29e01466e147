// Part of the module's script (--pre-js). A page loads the engine in parts (scripts/split/README.md): first the core, then what its
// program needs, and the rest a moment later. A function of a part that is called before that part is there is a stub, which calls
// load() below; it loads the part synchronously.
//
// Each thread has a table of functions of its own, into which it must load a part itself. Threads of a pool wait inside native code
// and receive no messages: they find the bytes in the shared memory, where the main thread has published them.
{
  const kRest = 4;
  const kErrorIndex = 15;
  const loaded = new Set();
  let coreExports;

  // Emscripten's version of the exports has JavaScript functions for some of them.
  const convert = applySignatureConversions;
  applySignatureConversions = (exports) => convert((coreExports = exports));
  const importsOfWhole = getWasmImports;
  getWasmImports = () => ({ ...importsOfWhole(), parts: { load } });

  const words = () => new Uint32Array(wasmMemory.buffer, coreExports["eg_sharedParts"]() >>> 0, 2 * (kErrorIndex + 1));
  const share = (index, bytes) => {
    const address = coreExports["eg_allocatePart"](bytes.length) >>> 0;
    if (address === 0) return;
    new Uint8Array(wasmMemory.buffer, address, bytes.length).set(bytes);
    words()[2 * index + 1] = bytes.length;
    Atomics.store(words(), 2 * index, address);
  };
  // A copy, because shared memory can be neither compiled nor decoded.
  const shared = (index) => {
    const address = Atomics.load(words(), 2 * index);
    return address === 0 ? null : new Uint8Array(wasmMemory.buffer, address, words()[2 * index + 1]).slice();
  };
  const publish = (part, bytes) => {
    const isShared = !(wasmMemory.buffer instanceof ArrayBuffer);
    if (isShared && Atomics.load(words(), 2 * part) === 0) share(part, bytes);
  };

  // For web/src/runtime/parts.ts, on the thread that started the engine.
  Module["hasPart"] = (part) => loaded.has(part);
  Module["addPart"] = async (part, bytes) => {
    await WebAssembly.instantiate(bytes, { core: coreExports });
    publish(part, bytes);
    loaded.add(part);
  };

  // For bindings/parts.cpp, on the main thread: another thread waits for this.
  Module["publishPart"] = (part) => {
    try {
      publish(part, Module["readPart"](part));
    } catch (error) {
      share(kErrorIndex, new TextEncoder().encode(error.message));
    }
  };

  const bytesOf = (part) => {
    if (Module["readPart"]) return Module["readPart"](part);
    if (shared(part) === null) coreExports["eg_requestPart"](part);
    const bytes = shared(part);
    if (bytes !== null) return bytes;
    throw new Error(new TextDecoder().decode(shared(kErrorIndex) ?? new Uint8Array()));
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
    if (loaded.has(part)) return;
    try {
      // The rest assumes that all others are there; it is the last.
      if (part === kRest) for (let other = 0; other < kRest; ++other) load(other);
      const bytes = bytesOf(part);
      new WebAssembly.Instance(new WebAssembly.Module(bytes), { core: coreExports });
      loaded.add(part);
      publish(part, bytes);
    } catch (error) {
      // Native code throws the error, so that it passes through that code as any other, unless there is none that could catch it, or
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
