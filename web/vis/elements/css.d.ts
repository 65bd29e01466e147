// The bundler imports a style sheet as a string.
declare module "*.css" {
  const text: string;
  export default text;
}
