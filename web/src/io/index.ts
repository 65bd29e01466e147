// eg.io: files.

export { type LoadSafetensorsOptions, loadSafetensors } from "./load_safetensors.js";
export { type SaveOptions, saveSafetensors } from "./save_safetensors.js";
