/** See python_files.mjs. */
declare module "virtual:python-files" {
  export const folder: string;
  export const names: readonly string[];
  export const bytes: number;
}
