// The course: the stage of a chapter, its steps, questions and keys.

import { link } from "../shared/elements.js";
import { byId } from "../shared/frame.js";
import { newestWins } from "../shared/newest_wins.js";
import { linkTrainer } from "../shared/trainer_link.js";
import { type Address, addressOf, mergeNumbers, readAddress } from "./address.js";
import { chapterOf, showText } from "./chapter_text.js";
import type { Chapter } from "./chapters/chapter.js";
import { kChapters } from "./chapters/index.js";
import type { Evaluator } from "./evaluator.js";
import { GraphStage } from "./graph_stage.js";
import { firstNumbers } from "./inputs_view.js";
import { ProgramStage } from "./program_stage.js";
import { QuestionView } from "./question_view.js";
import type { Stage } from "./stage.js";

// Slow enough to read a short explanation.
const kPlayMs = 2200;
const kNoteMs = 300;

const slider = byId<HTMLInputElement>("step");
const play = byId<HTMLButtonElement>("play");
const question = new QuestionView(byId("question"));

const { trainer: evaluator } = linkTrainer<Evaluator>(
  new Worker(new URL("./evaluator.ts", import.meta.url), { type: "module" }),
);

let chapter: Chapter;
// None while the engine evaluates a chapter that was opened.
let stage: Stage | null = null;
let step = 0;
let playing = 0;
let noting = 0;
// The part of the address that the page shows, or has written itself.
let shownHash = location.hash;

async function open(address: Address): Promise<void> {
  pause();
  shownHash = location.hash;
  const asked = shownHash;
  clearTimeout(noting);
  chapter = chapterOf(address);
  stage = null;
  showText(chapter);
  showNeighbors();
  byId("count").textContent = "";
  const makeStage = await evaluated(chapter, address);
  // Another chapter was opened meanwhile.
  if (shownHash !== asked) return;
  stage = makeStage();
  slider.max = String(stage.last);
  show(address.step);
}

// Returns what then shows a chapter.
async function evaluated(chapter: Chapter, address: Address): Promise<() => Stage> {
  if (!("build" in chapter)) {
    const outcomes = await evaluator.run(chapter.id);
    return () => {
      showGraphParts(false);
      question.askChoice(chapter.question);
      return new ProgramStage(byId("graph"), chapter, outcomes);
    };
  }
  const numbers = mergeNumbers(firstNumbers(chapter), address.numbers);
  const first = await evaluator.trace(chapter.id, numbers);
  return () => {
    showGraphParts(true);
    byId("numbers").classList.toggle("of-tensors", chapter.numbers.length === 0);
    const elements = { graph: byId("graph"), inputs: byId("inputs"), details: byId("details") };
    const changed = () => evaluateAgain(made);
    const made = new GraphStage(elements, chapter, numbers, { first, changed });
    question.askEdge(chapter.question, () => made.trace);
    if (chapter.summary) question.alsoAskChoice(chapter.summary);
    return made;
  };
}

function showGraphParts(isGraph: boolean): void {
  byId("inputs").hidden = byId("details").hidden = byId("hint").hidden = !isGraph;
  byId("numbers").classList.remove("of-tensors");
}

const evaluateAgain = newestWins(
  async (changed: GraphStage) => {
    const trace = await evaluator.trace(chapter.id, changed.numbers);
    if (stage !== changed) return;
    changed.take(trace);
    explain(changed.explanation);
  },
  () => {},
);

function show(next: number): void {
  if (stage === null) return;
  step = Math.max(0, Math.min(stage.last, next));
  slider.value = String(step);
  slider.setAttribute("aria-valuetext", `step ${step} of ${stage.last}`);
  byId("count").textContent = `${step} of ${stage.last}`;
  byId<HTMLButtonElement>("back").disabled = step === 0;
  byId<HTMLButtonElement>("forward").disabled = step === stage.last;
  explain(stage.show(step));
}

function explain({ title, text }: { title: string; text: string }): void {
  byId("now").textContent = title;
  byId("explanation").textContent = text;
  noteAddress();
}

// Browsers refuse to change the address more often than a few times a second.
function noteAddress(): void {
  clearTimeout(noting);
  noting = window.setTimeout(() => {
    // A link was pressed, of which the event has not arrived yet.
    if (stage === null || location.hash !== shownHash) return;
    const address = addressOf({ chapter: chapter.id, numbers: stage.numbers, step });
    history.replaceState(null, "", address);
    shownHash = location.hash;
  }, kNoteMs);
}

function showNeighbors(): void {
  const at = kChapters.indexOf(chapter);
  const previous = kChapters[at - 1];
  const next = kChapters[at + 1];
  const links = byId("neighbors");
  links.replaceChildren(
    ...(previous ? [link(`#${previous.id}`, `← ${previous.title}`)] : []),
    next
      ? link(`#${next.id}`, `${next.title} →`)
      : link("../engine_room/index.html", "The engine room →"),
  );
}

function pause(): void {
  clearInterval(playing);
  playing = 0;
  play.textContent = "Play";
}

function togglePlay(): void {
  if (playing !== 0) {
    pause();
    return;
  }
  if (step === stage?.last) show(0);
  play.textContent = "Pause";
  playing = window.setInterval(() => {
    show(step + 1);
    if (step === stage?.last) pause();
  }, kPlayMs);
}

function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (target.matches("input, textarea, select") && target !== slider) return;
  const next = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: stage?.last }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  pause();
  show(next);
}

async function toggleFullScreen(): Promise<void> {
  if (document.fullscreenElement === null) await byId("lesson").requestFullscreen();
  else await document.exitFullscreen();
}

/** Shows the chapter of the address, and follows what the visitor does. */
export function startCourse(): void {
  void open(readAddress(location.hash));
  addEventListener("hashchange", () => void open(readAddress(location.hash)));
  addEventListener("keydown", onKey);
  slider.addEventListener("input", () => {
    pause();
    show(Number(slider.value));
  });
  play.addEventListener("click", togglePlay);
  byId("back").addEventListener("click", () => show(step - 1));
  byId("forward").addEventListener("click", () => show(step + 1));
  const full = byId<HTMLButtonElement>("full");
  full.hidden = !document.fullscreenEnabled;
  full.addEventListener("click", () => void toggleFullScreen());
}
