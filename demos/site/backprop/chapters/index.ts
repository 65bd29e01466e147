// The course, in its order.

import type { Chapter } from "./chapter.js";
import { kProgramChapters } from "./programs.js";
import { kScalarChapters } from "./scalars.js";
import { kTensorChapters } from "./tensors.js";

export const kChapters: readonly Chapter[] = [
  ...kScalarChapters,
  ...kTensorChapters,
  ...kProgramChapters,
];
