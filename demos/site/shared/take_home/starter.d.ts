// The module of starter.mjs.

declare module "virtual:starter" {
  /** The texts of the files of a project by name. */
  const files: Readonly<Record<string, string>>;
  export default files;
}
