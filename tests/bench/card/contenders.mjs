// The contenders, which are the columns of the table: the card itself by the shortest shaders, this package, and its peers.

export const kContenders = {
  plain: { title: "plain WebGPU", library: "plain" },
  edgegrad: { title: "edgegrad", library: "edgegrad" },
  captured: {
    title: "edgegrad, captured",
    library: "edgegrad",
    options: { captured: true },
    kinds: ["training"],
  },
  jax: { title: "jax-js", library: "jax" },
  tfjs: { title: "tfjs-webgpu", library: "tfjs" },
};
