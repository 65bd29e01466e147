// The card itself: multiply-adds whose operands are in registers, the copy of a buffer, and the shortest shader that adds two buffers. No
// library can be faster.

const kThreads = 256;

export async function load() {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
  });
  return {
    repeat: (op, times) => repeat(device, op, times),
    arithmetic: (given) => arithmetic(device, given),
    copy: (given) => copy(device, given),
    sum: (given) => sum(device, given),
  };
}

async function repeat(device, op, times) {
  const encoder = device.createCommandEncoder();
  for (let i = 0; i < times; ++i) op(encoder);
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
}

function makeBuffers(device, sizes) {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  return sizes.map((size) => device.createBuffer({ size, usage }));
}

function dispatchOf(device, code, buffers, invocations) {
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module } });
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const groups = Math.ceil(invocations / kThreads);
  const across = Math.min(groups, 65535);
  return {
    op(encoder) {
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(across, Math.ceil(groups / across));
      pass.end();
    },
    end() {
      for (const buffer of buffers) buffer.destroy();
    },
  };
}

const kMain = `@compute @workgroup_size(${kThreads})
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * ${kThreads}u;`;

// Eight chains of vectors of four, which do not wait for each other. The factor is read, so that nothing is known when compiling.
function arithmetic(device, { steps, invocations }) {
  const chains = Array.from({ length: 8 }, (_, i) => `x${i}`);
  const code = `@group(0) @binding(0) var<storage, read_write> y: array<vec4<f32>>;
${kMain}
  let factor = y[i % arrayLength(&y)];
  ${chains.map((x, j) => `var ${x} = factor + ${j}.0;`).join("\n  ")}
  for (var step = 0u; step < ${steps}u; step++) {
    ${chains.map((x) => `${x} = fma(${x}, factor, factor);`).join("\n    ")}
  }
  y[i % arrayLength(&y)] = ${chains.join(" + ")};
}`;
  return dispatchOf(device, code, makeBuffers(device, [2 ** 16]), invocations);
}

function copy(device, { count }) {
  const [from, to] = makeBuffers(device, [4 * count, 4 * count]);
  return {
    op: (encoder) => encoder.copyBufferToBuffer(from, 0, to, 0, 4 * count),
    end() {
      from.destroy();
      to.destroy();
    },
  };
}

function sum(device, { count }) {
  const size = 4 * count;
  const code = `@group(0) @binding(0) var<storage> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
${kMain}
  if (i < arrayLength(&y)) {
    y[i] = a[i] + b[i];
  }
}`;
  return dispatchOf(device, code, makeBuffers(device, [size, size, size]), count / 4);
}
