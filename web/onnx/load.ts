import { readMessage } from "./proto/read.js";
export async function load(bytes: Uint8Array) {
  return readMessage("Model", bytes);
}
