import { CodePanel } from "../shared/code_panel.js";
import { chosenDevice, fillDevices } from "../shared/device_picker.js";
import { byId } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { runtimeText } from "../shared/runtime_text.js";
import { linkTrainer, proxy } from "../shared/trainer_link.js";
import { kOwnCode } from "./own_code.js";
import type { SpiralTrainer } from "./trainer.js";

const { trainer } = linkTrainer<SpiralTrainer>(
  new Worker(new URL("./trainer.ts", import.meta.url), { type: "module" }),
);
const device = byId<HTMLSelectElement>("device");
const run = byId<HTMLButtonElement>("run");
const chart = new LineChart(byId("loss"), {
  label: "Loss by step",
  x: "step",
  series: [{ label: "loss", color: "series-1" }],
});

await fillDevices(device);
let started = false;
let training = false;
run.addEventListener("click", async () => {
  if (training) return trainer.stop();
  training = true;
  run.textContent = "Stop";
  device.disabled = true;
  const chosen = chosenDevice(device);
  if (!started) byId("runtime").textContent = runtimeText(await trainer.start(chosen), chosen);
  started = true;
  await trainer.train(proxy(({ step, loss }) => chart.push(step, loss)));
  training = false;
  run.textContent = "Train";
});

new CodePanel(byId("code"), { code: kOwnCode, label: "Your code" });
