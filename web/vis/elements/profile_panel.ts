// <eg-profile>: the time of a step as a timeline, and by op, layer and thread.

import { kTimeTitles, milliseconds, timeCells } from "../profile/profile_text.js";
import type { StepProfile } from "../profile/step_profile.js";
import { element, scrolling, table } from "./dom.js";
import { type Data, Panel } from "./panel.js";
import { kTimelineStyle, lanesOf } from "./timeline.js";

/** The limit on rows of a table of times. */
const kMostRows = 12;

const kStyle = `
.times { display: flex; flex-wrap: wrap; gap: 8px 32px; margin-block-start: 12px; align-items: start; }
.times table { max-inline-size: 100%; }
.times tbody th { white-space: normal; overflow-wrap: anywhere; }
`;

/** Displays the result of `profileStep()`. */
export class ProfilePanel extends Panel {
  #profile: StepProfile | null = null;

  override show(profile: StepProfile | null): void {
    this.#profile = profile;
    this.redraw();
  }

  protected override draw(): string | null {
    const profile = this.#profile;
    if (profile === null || profile.events.length === 0) return "No profile yet";
    const tables = [
      ["Op", profile.byOp()],
      ["Layer", profile.byLayer()],
      ["Thread", profile.byThread()],
    ] as const;
    const times = tables.map(([title, rows]) => {
      const isCut = rows.length > kMostRows;
      const caption = isCut
        ? `Time by ${title.toLowerCase()}: the first ${kMostRows}`
        : `Time by ${title.toLowerCase()}`;
      return table(caption, [title, ...kTimeTitles], rows.slice(0, kMostRows).map(timeCells));
    });
    const label = `Timeline of ${profile.events.length} ops and nodes in ${milliseconds(profile.time)}`;
    this.area.replaceChildren(
      scrolling("Timeline", lanesOf(profile.events, label)),
      element("div", { class: "times" }, ...times),
    );
    return null;
  }

  protected override data(): Data | null {
    const rows = this.#profile?.events.map(({ name, layer, phase, thread, start, duration }) => [
      ...[name, layer, phase, thread, milliseconds(start), milliseconds(duration)],
    ]);
    return rows === undefined
      ? null
      : { titles: ["Op or node", "Layer", "Phase", "Thread", "Start", "Time"], rows };
  }

  protected override defaultHeading(): string {
    return this.#profile === null ? "" : `A step of ${milliseconds(this.#profile.time)}`;
  }

  protected override moreStyle(): string {
    return kTimelineStyle + kStyle;
  }
}
