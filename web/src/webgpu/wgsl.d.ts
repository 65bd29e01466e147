// The bundler turns a .wgsl file into a string.
declare module "*.wgsl" {
  const text: string;
  export default text;
}
