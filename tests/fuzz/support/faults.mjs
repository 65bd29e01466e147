// Deliberate faults that the oracle must detect.

// (module (func (export "f") unreachable))
const kTrap = [
  0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 0x66, 0, 0, 10,
  5, 1, 3, 0, 0, 0x0b,
];

const kept = [];

/** The faults, for the lines of a program: `faults.trap()`. */
export function makeFaults(eg, canaries) {
  return {
    /** Kinds of cases that replace the usual ones. */
    kinds: {
      faulty: {
        weight: 1,
        build(_, program) {
          program.make("eg.ones([2])");
          program.run("faults.crash()");
        },
      },
    },
    trap() {
      const module = new WebAssembly.Module(Uint8Array.from(kTrap));
      new WebAssembly.Instance(module).exports.f();
    },
    crash() {
      process.abort();
    },
    exit() {
      process.exit(7);
    },
    hang() {
      for (;;);
    },
    leak() {
      kept.push(eg.keep(eg.ones([3])));
    },
    leakOfCall() {
      // Only the garbage collector would free this tensor.
      eg.ones([3]);
      return eg.ones([2]);
    },
    writeOver(which) {
      eg.noGrad(() => canaries.tensors[which].add_(1));
    },
    rawError() {
      undefined.shape;
    },
    overflowStack() {
      return this.overflowStack() + 1;
    },
    fail(code, message) {
      throw new eg.EdgeGradError(code, message);
    },
    changeAndFail(tensor) {
      tensor.add_(1);
      this.fail("InvalidArgument", "[add_] no");
    },
    changeSilently(tensor) {
      tensor.add_(1);
    },
    leaveGradModeOff() {
      kept.push(eg.setGradEnabled(false));
    },
    async stopAndFail() {
      await eg.shutdown();
      this.fail("InvalidArgument", "[stop] no");
    },
    rejectUnseen() {
      Promise.reject(new Error("this promise is not awaited"));
    },
    tensorOf(properties) {
      const values = {
        handle: 1,
        shape: [2],
        strides: [1],
        numel: 2,
        offset: 0,
        isView: false,
        ...properties,
      };
      const descriptors = Object.entries(values).map(([name, value]) => [name, { value }]);
      return Object.create(eg.Tensor.prototype, Object.fromEntries(descriptors));
    },
  };
}
