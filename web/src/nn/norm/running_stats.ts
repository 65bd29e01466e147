/** The method of layers of batch normalization that lets their running statistics go. */
export const kDropRunningStats: unique symbol = Symbol("dropRunningStats");
