// The parts of the engine without threads; parts.test.mjs has those with threads, and what else is to be said about parts.

import { testNeeds } from "../support/parts.mjs";

testNeeds("single", {});
