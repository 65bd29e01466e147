// The bundler turns a .wgsl file into a string.
declare module "*.wgsl" {
  const text: string;
  export default text;
}

declare module "webgpu" {
  /** A GPU like navigator.gpu; keep it reachable. */
  export function create(options: readonly string[]): GPU;
  export const globals: object;
}
