// The bundler imports a .wgsl file as a string.
declare module "*.wgsl" {
  const text: string;
  export default text;
}

declare module "webgpu" {
  /** Creates a GPU like navigator.gpu. The caller must keep it reachable. */
  export function create(options: readonly string[]): GPU;
  export const globals: object;
}
