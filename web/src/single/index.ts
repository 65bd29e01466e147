// edgegrad/single: the package with the build "single" alone, which it imports statically. For places without workers or
// import(): service workers, and runtimes for the edge. scripts/build.mjs replaces files.ts with single/files.ts.

export * from "../index.js";
