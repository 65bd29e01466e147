// The course: the stage of a chapter, its steps, questions and keys.

import * as eg from "edgegrad";
import { link } from "../shared/elements.js";
import { byId } from "../shared/frame.js";
import { type Address, addressOf, mergeNumbers, readAddress } from "./address.js";
import { chapterOf, showText } from "./chapter_text.js";
import type { Chapter } from "./chapters/chapter.js";
import { kChapters } from "./chapters/index.js";
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

let chapter: Chapter;
let stage: Stage;
let step = 0;
let playing = 0;
let noting = 0;
// The part of the address that the page shows, or has written itself.
let shownHash = location.hash;

function open(address: Address): void {
  pause();
  shownHash = location.hash;
  clearTimeout(noting);
  chapter = chapterOf(address);
  showText(chapter);
  stage = stageOf(chapter, address);
  slider.max = String(stage.last);
  showNeighbors();
  show(Math.min(address.step, stage.last));
}

function stageOf(chapter: Chapter, address: Address): Stage {
  const isGraph = "build" in chapter;
  byId("inputs").hidden = byId("details").hidden = byId("hint").hidden = !isGraph;
  byId("numbers").classList.toggle("of-tensors", isGraph && chapter.numbers.length === 0);
  if (!isGraph) {
    question.askChoice(chapter.question);
    return new ProgramStage(byId("graph"), chapter);
  }
  const elements = { graph: byId("graph"), inputs: byId("inputs"), details: byId("details") };
  const numbers = mergeNumbers(firstNumbers(chapter), address.numbers);
  const made = new GraphStage(elements, chapter, numbers, () => explain(made.explanation));
  question.askEdge(chapter.question, () => made.trace);
  if (chapter.summary) question.alsoAskChoice(chapter.summary);
  return made;
}

function show(next: number): void {
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
    if (location.hash !== shownHash) return;
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
  if (step === stage.last) show(0);
  play.textContent = "Pause";
  playing = window.setInterval(() => {
    show(step + 1);
    if (step === stage.last) pause();
  }, kPlayMs);
}

function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (target.matches("input, textarea, select") && target !== slider) return;
  const next = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: stage.last }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  pause();
  show(next);
}

async function toggleFullScreen(): Promise<void> {
  if (document.fullscreenElement === null) await byId("lesson").requestFullscreen();
  else await document.exitFullscreen();
}

/** Starts the engine, and with it everything but the words. */
export async function startCourse(): Promise<void> {
  // Everything, because this thread would wait for what comes later; one thread, because the numbers are few.
  await eg.init({ preload: "all", threads: 1 });
  open(readAddress(location.hash));
  addEventListener("hashchange", () => open(readAddress(location.hash)));
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
