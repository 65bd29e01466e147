// For parts.test.mjs: a function for spawn() that needs the whole engine.

import * as eg from "edgegrad";

export const rank = (matrix) => eg.linalg.matrixRank(matrix).item();
