// Times every dispatch on the device; loaded in the same way as counter.mjs. Each dispatch becomes a separate compute
// pass, at whose beginning and end the device writes a timestamp.

import { globals } from "webgpu";
import { kProfileChannel } from "./profile_channel.mjs";

const { GPUBufferUsage, GPUCommandEncoder, GPUDevice, GPUMapMode, GPUQueue } = globals;

const kMostDispatches = 2000; // in a submit

const totals = new Map(); // by dispatch name: {count, sum, best}
let timer; // for the device of this thread

class Timer {
  #device;
  #queries;
  #resolved;
  #names = [];

  constructor(device) {
    this.#device = device;
    const count = 2 * kMostDispatches;
    this.#queries = device.createQuerySet({ type: "timestamp", count });
    const usage = GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC;
    this.#resolved = device.createBuffer({ size: 8 * count, usage });
  }

  /** Returns the timestampWrites of the next pass. */
  next(name) {
    const beginningOfPassWriteIndex = 2 * this.#names.length;
    const endOfPassWriteIndex = beginningOfPassWriteIndex + 1;
    this.#names.push(name);
    return {
      timestampWrites: {
        querySet: this.#queries,
        beginningOfPassWriteIndex,
        endOfPassWriteIndex,
      },
    };
  }

  /** Reads the times of the recorded passes, which must have been submitted before. `submit` submits the commands that copy the times. */
  async collect(submit) {
    const names = this.#names;
    if (names.length === 0) return;
    this.#names = [];
    const size = 16 * names.length;
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    const staging = this.#device.createBuffer({ size, usage });
    const encoder = this.#device.createCommandEncoder();
    encoder.resolveQuerySet(this.#queries, 0, 2 * names.length, this.#resolved, 0);
    encoder.copyBufferToBuffer(this.#resolved, 0, staging, 0, size);
    submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const times = new BigInt64Array(staging.getMappedRange());
    names.forEach((name, i) => {
      add(name, Number(times[2 * i + 1] - times[2 * i]) / 1e6);
    });
    staging.destroy();
  }
}

function add(name, time) {
  const { count, sum, best } = totals.get(name) ?? { count: 0, sum: 0, best: time };
  totals.set(name, { count: count + 1, sum: sum + time, best: Math.min(best, time) });
}

/** Replaces a compute pass by one pass per dispatch. */
class SplitPass {
  #begin;
  #pipeline;
  #groups = [];

  constructor(begin) {
    this.#begin = begin;
  }

  setPipeline(pipeline) {
    this.#pipeline = pipeline;
  }

  setBindGroup(...given) {
    this.#groups[given[0]] = given;
  }

  dispatchWorkgroups(...counts) {
    const sizes = this.#groups.map(([, group]) => sizesOf.get(group)).join("; ");
    const name = `${this.#pipeline.label || "?"} ${counts.join(" x ")} (${sizes})`;
    const pass = this.#begin(timer.next(name));
    pass.setPipeline(this.#pipeline);
    for (const given of this.#groups) pass.setBindGroup(...given);
    pass.dispatchWorkgroups(...counts);
    pass.end();
  }

  end() {}
}

const sizesOf = new WeakMap(); // sizes in bytes of a bind group's buffers

const { createBindGroup } = GPUDevice.prototype;
GPUDevice.prototype.createBindGroup = function (descriptor) {
  const group = createBindGroup.call(this, descriptor);
  sizesOf.set(group, descriptor.entries.map(({ resource }) => resource.buffer?.size).join(" "));
  timer ??= new Timer(this);
  return group;
};

const { beginComputePass } = GPUCommandEncoder.prototype;
GPUCommandEncoder.prototype.beginComputePass = function () {
  return new SplitPass((descriptor) => beginComputePass.call(this, descriptor));
};

const { submit } = GPUQueue.prototype;
GPUQueue.prototype.submit = function (buffers) {
  submit.call(this, buffers);
  timer?.collect((own) => submit.call(this, own));
};

const channel = new BroadcastChannel(kProfileChannel);
channel.onmessage = ({ data }) => {
  if (data === "forget") totals.clear();
  else if (data === "tell") channel.postMessage([...totals]);
};
channel.unref();
