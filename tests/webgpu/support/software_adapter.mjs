// The software renderer that comes with Chromium, for npm's `webgpu`.

import { existsSync } from "node:fs";

const kSwiftShader = "/usr/lib/chromium/vk_swiftshader_icd.json";

/** Makes this process use it, unless VK_ICD_FILENAMES selects another driver. Returns whether it is installed. */
export function preferSoftwareAdapter() {
  const isThere = existsSync(kSwiftShader);
  if (isThere) process.env.VK_ICD_FILENAMES ??= kSwiftShader;
  return isThere;
}
