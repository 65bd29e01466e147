// On which profile.mjs and the threads that profiler.mjs is loaded in talk.

export const kProfileChannel = "profile of WebGPU";
