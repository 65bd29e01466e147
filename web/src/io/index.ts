// eg.io: reading and writing files.

export { type LoadOptions, load } from "./load.js";
export {
  type LoadSafetensorsOptions,
  loadSafetensors,
  readSafetensorsMetadata,
} from "./load_safetensors.js";
export { type SaveOptions, save } from "./save.js";
export { type SaveSafetensorsOptions, saveSafetensors } from "./save_safetensors.js";
