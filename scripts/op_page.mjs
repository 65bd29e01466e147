// npm run docs: writes docs/ops.md, what every op can do, from a run of all of them.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { kOpPage, opPage } from "../tests/js/support/op_page.mjs";
import { reportOps } from "../tests/js/support/op_report.mjs";

mkdirSync(dirname(kOpPage), { recursive: true });
writeFileSync(kOpPage, opPage(reportOps()));
