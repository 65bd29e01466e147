// Accessibility as axe checks it.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const kAxe = createRequire(import.meta.url).resolve("axe-core");
// By color scheme: all rules for one, and only the rules about colors for the other.
const kRules = {
  light: {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    // Typedoc's theme skips heading levels.
    rules: { "heading-order": { enabled: false } },
  },
  dark: { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } },
};

/** Asserts that axe finds nothing on a page, in light and in dark mode. */
export async function assertAccessible(page) {
  await page.addScriptTag({ path: kAxe });
  for (const [colorScheme, rules] of Object.entries(kRules)) {
    await page.emulateMedia({ colorScheme });
    const violations = await page.evaluate(async (given) => {
      const found = await globalThis.axe.run(document, { ...given, resultTypes: ["violations"] });
      return found.violations.flatMap(({ id, nodes }) =>
        nodes
          .slice(0, 3)
          .map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ""}`),
      );
    }, rules);
    assert.deepEqual(violations, [], colorScheme);
  }
}
