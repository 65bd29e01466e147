// Part of the module's script (--pre-js). Timers and the clock are those that the host had when the package was imported
// (web/src/runtime/host/host.ts); in a thread, those that it has now.
const timers = Module["timers"] ?? globalThis;
const setTimeout = timers["setTimeout"];
const performance = timers["performance"];
