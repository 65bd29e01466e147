// What Node itself needs until it runs a module.

console.log(performance.timeOrigin + performance.now());
