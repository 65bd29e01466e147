// The software renderer that comes with Chromium, for npm's `webgpu`.

import { existsSync } from "node:fs";

const kSwiftShader = "/usr/lib/chromium/vk_swiftshader_icd.json";

/** Has this process use it where it is installed, unless VK_ICD_FILENAMES says what to use. */
export function preferSoftwareAdapter() {
  if (!process.env.VK_ICD_FILENAMES && existsSync(kSwiftShader))
    process.env.VK_ICD_FILENAMES = kSwiftShader;
}
