// How a pass over the digits shows: a bar on a terminal, a line now and then elsewhere.

import cliProgress from "cli-progress";

const kLineInterval = 2000;

/** Starts showing a pass of `total` samples. */
export function startProgress(title, total) {
  return process.stdout.isTTY ? new Bar(title, total) : new Lines(title, total);
}

class Bar {
  constructor(title, total) {
    this.start = performance.now();
    this.bar = new cliProgress.SingleBar({
      format: `${title} [{bar}] {percentage}% | loss {loss} | {speed} samples/s | {eta_formatted} left`,
      barsize: 24,
      hideCursor: true,
      clearOnComplete: true,
    });
    this.bar.start(total, 0, { loss: "-", speed: "-" });
  }

  update(done, loss) {
    this.bar.update(done, { loss: loss.toFixed(4), speed: speedOf(done, this.start) });
  }

  stop() {
    this.bar.stop();
  }
}

class Lines {
  constructor(title, total) {
    this.title = title;
    this.total = total;
    this.start = performance.now();
    this.shown = this.start;
  }

  update(done, loss) {
    const now = performance.now();
    if (now - this.shown < kLineInterval) return;
    this.shown = now;
    const left = ((now - this.start) / 1000) * (this.total / done - 1);
    console.log(
      `${this.title} ${done}/${this.total}, loss ${loss.toFixed(4)}, ` +
        `${speedOf(done, this.start)} samples/s, ${left.toFixed(0)} s left`,
    );
  }

  stop() {}
}

function speedOf(done, start) {
  return Math.round((done / (performance.now() - start)) * 1000);
}
