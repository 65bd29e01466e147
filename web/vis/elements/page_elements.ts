// The TypeScript types of the elements, in pages and in the templates of frameworks. Where the types of the DOM or a framework are not
// installed, @ts-ignore hides the errors of their declarations; @ts-expect-error would be an error where they are installed.

import type { RunLog } from "../log/run_log.js";
import type { ModuleSummary } from "../model/summary.js";
import type { TapeGraph } from "../model/tape_graph.js";
import type { StepProfile } from "../profile/step_profile.js";

// HTMLElement, or an empty type in programs that are compiled without the types of the DOM.
type PageElement = typeof globalThis extends { HTMLElement: { prototype: infer Found } }
  ? Found
  : Record<never, never>;

/** An element with a panel. */
export interface PanelElement extends PageElement {
  /** The heading above the panel; like the other string properties, it reflects an attribute. */
  heading: string | null;
  /** Draws the panel again in the next frame, for example after custom properties have changed. */
  redraw(): void;
}

/** An element that displays series of a log. */
export interface LogElement extends PanelElement {
  /** The displayed log, which is followed as it grows. */
  log: RunLog | null;
}

/** An element that displays one series of a log. */
export interface SeriesElement extends LogElement {
  /** The name of the run; by default the visitor chooses. */
  run: string | null;
  /** The name of the series; by default the visitor chooses. */
  tag: string | null;
}

/** `<eg-line-chart>`. */
export interface LineChartElement extends LogElement {
  /** The series, comma-separated; by default all. */
  tags: string | null;
  /** The runs, comma-separated; by default all. */
  runs: string | null;
  /** How much lines are smoothed, from 0 to 0.99. */
  get smoothing(): string | null;
  set smoothing(smoothing: number | string | null);
  /** "log" for a logarithmic axis. */
  scale: string | null;
}

/** `<eg-summary-table>`. */
export interface SummaryTableElement extends PanelElement {
  /** The summary that is shown. */
  get summary(): ModuleSummary | null;
  set summary(summary: SummaryData | null);
}

/** `<eg-tape-graph>`. */
export interface TapeGraphElement extends PanelElement {
  /** The graph that is shown. */
  graph: TapeGraph | null;
}

/** `<eg-profile>`. */
export interface ProfileElement extends PanelElement {
  /** The profile that is shown. */
  get profile(): StepProfile | null;
  set profile(profile: ProfileData | null);
}

/** The data of a summary, which may have been posted from another thread. */
export type SummaryData = Pick<ModuleSummary, "rows" | "inputBytes" | "outputBytes">;

/** The data of a profile, which may have been posted from another thread. */
export type ProfileData = Pick<StepProfile, "events" | "time">;

/** The elements by their names, as `HTMLElementTagNameMap` has them. */
export interface PanelElements {
  /** Attention between positions, over steps. */
  "eg-attention-map": SeriesElement;
  /** How often each class is predicted as each other. */
  "eg-confusion-matrix": SeriesElement;
  /** Distributions over steps. */
  "eg-histogram": SeriesElement;
  /** Images over steps. */
  "eg-image-grid": SeriesElement;
  /** Lines of numbers. */
  "eg-line-chart": LineChartElement;
  /** The times of a step. */
  "eg-profile": ProfileElement;
  /** Points of a matrix in the plane. */
  "eg-projector": SeriesElement;
  /** The layers of a model. */
  "eg-summary-table": SummaryTableElement;
  /** A backward graph. */
  "eg-tape-graph": TapeGraphElement;
}

/** The name of an element. */
export type PanelName = keyof PanelElements;

interface Heading {
  /** The heading above the panel. */
  heading?: string | undefined;
}

interface OfLog extends Heading {
  /** The log that is shown. */
  log?: RunLog | null | undefined;
}

interface OfSeries extends OfLog {
  /** The name of the run; by default the visitor chooses. */
  run?: string | undefined;
  /** The name of the series; by default the visitor chooses. */
  tag?: string | undefined;
}

interface OfLines extends OfLog {
  /** The series, comma-separated; by default all. */
  tags?: string | undefined;
  /** The runs, comma-separated; by default all. */
  runs?: string | undefined;
  /** How much lines are smoothed, from 0 to 0.99. */
  smoothing?: number | string | undefined;
  /** "log" for a logarithmic axis. */
  scale?: "log" | "linear" | undefined;
}

interface OfSummary extends Heading {
  /** The summary that is shown. */
  summary?: SummaryData | null | undefined;
}

interface OfGraph extends Heading {
  /** The graph that is shown. */
  graph?: TapeGraph | null | undefined;
}

interface OfProfile extends Heading {
  /** The profile that is shown. */
  profile?: ProfileData | null | undefined;
}

/** What each element accepts in a template: its attributes and its property. */
export interface PanelProps {
  /** Attention between positions, over steps. */
  "eg-attention-map": OfSeries;
  /** How often each class is predicted as each other. */
  "eg-confusion-matrix": OfSeries;
  /** Distributions over steps. */
  "eg-histogram": OfSeries;
  /** Images over steps. */
  "eg-image-grid": OfSeries;
  /** Lines of numbers. */
  "eg-line-chart": OfLines;
  /** The times of a step. */
  "eg-profile": OfProfile;
  /** Points of a matrix in the plane. */
  "eg-projector": OfSeries;
  /** The layers of a model. */
  "eg-summary-table": OfSummary;
  /** A backward graph. */
  "eg-tape-graph": OfGraph;
}

/** The elements in a framework's templates, each with the framework's `Common` attributes. */
export type PanelTags<Common> = { [Name in PanelName]: PanelProps[Name] & Common };

interface VueProps {
  class?: unknown;
  style?: unknown;
  id?: string | undefined;
  title?: string | undefined;
  hidden?: boolean | undefined;
}

/** The elements as Vue components: classes with `$props`. */
export type PanelComponents = {
  [Name in PanelName]: new () => PanelElements[Name] & {
    /** The props that a template may pass. */
    $props: PanelProps[Name] & VueProps;
  };
};

declare global {
  interface HTMLElementTagNameMap extends PanelElements {}
}

/** @ts-ignore: there may be no React. */
declare module "react" {
  namespace JSX {
    /** @ts-ignore: there may be no React. */
    // biome-ignore format: the line before counts for one line.
    interface IntrinsicElements extends PanelTags<DetailedHTMLProps<HTMLAttributes<HTMLElement>, HTMLElement>> {}
  }
}

/** @ts-ignore: there may be no Preact. */
declare module "preact" {
  namespace JSX {
    /** @ts-ignore: there may be no Preact. */
    interface IntrinsicElements extends PanelTags<HTMLAttributes<HTMLElement>> {}
  }
}

/** @ts-ignore: there may be no Solid. */
declare module "solid-js/jsx-runtime" {
  namespace JSX {
    /** @ts-ignore: there may be no Solid. */
    interface IntrinsicElements extends PanelTags<HTMLAttributes<HTMLElement>> {}
  }
}

/** @ts-ignore: there may be no Vue. */
declare module "vue" {
  interface GlobalComponents extends PanelComponents {}
}
