// What objects that own a handle have in common.

/** An object that owns a handle: a tensor, or a node of the backward graph. */
export interface Wrapper {
  /** 0 once it is freed. */
  handle: number;
  /** An unused buffer that makes the garbage collector account for the engine's memory. */
  ballast: ArrayBuffer | null;
  /** True when no scope frees it. */
  isKept: boolean;
  /** See kUncloneable. */
  readonly uncloneable: symbol;
  readonly disposed: boolean;
  /** Another wrapper that leaves scopes with this one: see leaveTogether(), or the tensor that a wrapper without a handle represents. */
  readonly shown?: Wrapper;
}
