// edgegrad/pyodide: PyTorch's API for Python in the page, on Pyodide.

export type { Engine, PyodideLike } from "./engine.js";
export { type InstallOptions, install } from "./install.js";
export { type WheelSource, wheelUrl } from "./wheel.js";
