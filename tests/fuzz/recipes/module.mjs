/** Returns a recipe that calls a layer with each of the inputs. */
export const module = (layer, ...inputs) => [layer, ...inputs.map((input) => `$0.call(${input})`)];
