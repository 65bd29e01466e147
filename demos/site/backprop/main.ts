// The page: first the words, then the engine and what it draws.

import { readAddress } from "./address.js";
import { chapterOf, listChapters, showText } from "./chapter_text.js";

listChapters();
showText(chapterOf(readAddress(location.hash)));
// Not awaited: the bundle of the course imports from this one. A function is called, because bundlers leave out modules of which nothing is used.
void import("./course.js").then(({ startCourse }) => startCourse());
