/** Returns the names of an object's own properties: a loop with `in` also has those that a page has added to Object.prototype. */
export const keysOf = Object.keys as <T extends object>(of: T) => (keyof T & string)[];
