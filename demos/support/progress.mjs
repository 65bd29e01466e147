// Shows the progress of training: a bar on a terminal, otherwise a line now and then.

import cliProgress from "cli-progress";

const kLineInterval = 2000;

/** Starts showing progress towards `total`, counted in `unit`. */
export function startProgress(title, total, unit) {
  return process.stdout.isTTY ? new Bar(title, total, unit) : new Lines(title, total, unit);
}

class Bar {
  constructor(title, total, unit) {
    this.start = performance.now();
    this.bar = new cliProgress.SingleBar({
      format: `${title} [{bar}] {percentage}% | loss {loss} | {speed} ${unit}/s | {eta_formatted} left`,
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
  constructor(title, total, unit) {
    this.title = title;
    this.total = total;
    this.unit = unit;
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
        `${speedOf(done, this.start)} ${this.unit}/s, ${left.toFixed(0)} s left`,
    );
  }

  stop() {}
}

function speedOf(done, start) {
  return Math.round((done / (performance.now() - start)) * 1000);
}
