// The time that Node.js itself takes until it runs a module.

console.log(performance.timeOrigin + performance.now());
