// The channel for communication between profile.mjs and the threads in which profiler.mjs is loaded.

export const kProfileChannel = "profile of WebGPU";
