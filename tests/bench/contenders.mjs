// The contenders: a library used in one particular way. Each one is a column of the report.

export const kContenders = {
  bare: { title: "bare Node" },
  edgegrad: { title: "edgegrad", library: "edgegrad", threads: 1 },
  edgegradCached: { title: "with a compile cache", library: "edgegrad", threads: 1 },
  edgegrad2: { title: "edgegrad 2t", library: "edgegrad", threads: 2 },
  kernel: { title: "C++ only" },
  tfjs: { title: "tfjs-wasm", library: "tfjs" },
  jax: { title: "jax-js", library: "jax" },
  ort: { title: "onnxruntime-web", library: "ort", threads: 1 },
  edgegradGpu: { title: "edgegrad webgpu", library: "edgegrad", device: "webgpu" },
  tfjsGpu: { title: "tfjs-webgpu", library: "tfjs", device: "webgpu" },
  ortGpu: { title: "onnxruntime-web webgpu", library: "ort", device: "webgpu" },
  jaxGpu: { title: "jax-js webgpu", library: "jax", device: "webgpu" },
};

/** Returns our first result, with which those of peers are compared. */
export const ourResult = (results) =>
  results.find(({ contender }) => kContenders[contender].library === "edgegrad");

/** Returns whether a column is another library, next to which our result is printed as a ratio. */
export const isPeer = (id) => ["tfjs", "jax", "ort"].includes(kContenders[id].library);

/** Returns the result of a contender with these values, or why it has none. */
export const resultOf = (contender, values = {}, failure = null) => ({
  contender,
  values,
  errors: {},
  data: {},
  failure,
  detail: "",
});
