// A module that the worker of deployed.js imports.

export const kRate = 0.1;
