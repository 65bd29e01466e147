// Pieces of which texts of shaders are made.

/** 0, 1, ... below `count`. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
