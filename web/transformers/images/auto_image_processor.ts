// Loads the processors of images.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { parseObject } from "../config/config.js";
import type { ImageProcessor } from "./types.js";

const kFile = "preprocessor_config.json";
const kWhere = "AutoImageProcessor.fromPretrained";

/** Loads the processors of images. */
export const AutoImageProcessor = {
  /** Reads preprocessor_config.json in a folder; rejects with InvalidArgument for steps that are not implemented. */
  async fromPretrained(source: eg.io.FolderSource): Promise<ImageProcessor> {
    const folder = await eg.io.openFolder(source);
    const bytes = await folder.bytes(kFile);
    if (bytes === null) fail("InvalidArgument", kWhere, `there is no ${kFile} in the folder.`);
    const { StepsOfImages } = await import("./image_processor.js");
    return new StepsOfImages(parseObject(kWhere, kFile, bytes));
  },
};
