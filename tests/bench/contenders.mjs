// Who takes part: a library in one way of using it. Column titles of the report.

export const kContenders = {
  bare: { title: "bare Node" },
  edgegrad: { title: "edgegrad", library: "edgegrad", threads: 1 },
  edgegrad2: { title: "edgegrad 2t", library: "edgegrad", threads: 2 },
  kernel: { title: "C++ only" },
  tfjs: { title: "tfjs-wasm", library: "tfjs" },
  jax: { title: "jax-js", library: "jax" },
  jaxCompiled: { title: "jax-js jit", library: "jax", compiled: true },
};

/** Whether a column is another library, beside which our figure is printed as a ratio. */
export const isPeer = (id) => ["tfjs", "jax"].includes(kContenders[id].library);
