// A page that runs the engine in a worker.

const worker = new Worker(new URL("./own_worker_engine.js", import.meta.url), { type: "module" });
const finish = (result) => {
  document.body.textContent = JSON.stringify(result);
};
worker.onmessage = ({ data }) => finish(data);
worker.onerror = ({ message }) => finish({ error: `the worker failed: ${message}` });
