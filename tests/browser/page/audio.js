// Trains in an AudioWorklet, which has neither timers nor a way to load anything later.

const finish = (result) => {
  document.body.textContent = JSON.stringify(result);
};

try {
  const audio = new OfflineAudioContext(1, 128 * 64, 44100);
  await audio.audioWorklet.addModule("audio_worklet.js");
  const file = new URL("/node_modules/edgegrad/dist/wasm/edgegrad-single.wasm", location.href);
  const wasmModule = await WebAssembly.compileStreaming(fetch(file));
  const node = new AudioWorkletNode(audio, "trainer", { processorOptions: { wasmModule } });
  node.onprocessorerror = (event) => finish({ error: `processor: ${event.message}` });
  node.port.onmessage = ({ data }) => finish(data);
  node.connect(audio.destination);
  await audio.startRendering();
} catch (error) {
  finish({ error: String(error) });
}
