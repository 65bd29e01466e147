// How results of the search of the docs are ranked. typedoc looks for names that contain what was typed; people also type questions. The
// build writes the text of this function into typedoc's script (search_script.mjs), so it uses nothing from outside.

/** Returns the results of a lunr index for a text, as [{ ref, score }, ...] with the best first; `rows` are what they refer to. */
export function ranked(typed, index, rows) {
  const kAsides =
    "a an and any are as at be by can cannot did do does for from get has have how i if in into is it its me my not of on or should " +
    "so that the them then there this to use using was what when where which while why will with without work would you your";
  const kFew = 3;
  const asides = new Set(kAsides.split(" "));
  // lunr gives these signs a meaning of its own.
  const all = typed
    .toLowerCase()
    .replaceAll(/[:~^+*?!,;"'`()[\]{}]/g, " ")
    .split(/[\s-]+/)
    .map((word) => word.replaceAll(/^\W+|\W+$/g, ""))
    .filter((word) => word !== "");
  const telling = all.filter((word) => !asides.has(word));
  const words = [...new Set(telling.length > 0 ? telling : all)];
  const found = new Map();
  for (const word of words) {
    const stem = word.length > 4 ? word.replace(/(?:ing|ies|es|ed|s)$/, "") : word;
    const beginning = index.search(`${word}^10 ${word}*^2 ${stem}*`);
    // Takes much longer, as every word of the index is compared.
    const hits = beginning.length < kFew ? index.search(`${word}^10 *${word}*`) : beginning;
    for (const { ref, score } of hits) {
      const before = found.get(ref) ?? { score: 0, words: 0 };
      found.set(ref, { score: before.score + score, words: before.words + 1 });
    }
  }
  // A name that was typed nearly as it is comes first, and what has more of the words before what has fewer.
  const plain = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const start = plain(typed);
  const results = [...found].map(([ref, { score, words: has }]) => {
    const row = rows[Number(ref)];
    const name = plain(row.name);
    const isNamed = start !== "" && name.startsWith(start);
    // A class may have a method of the name, and many classes the same.
    const most = row.url.includes("#") ? 2 : 10;
    const named = isNamed ? Math.max(1, most / (1 + name.length - start.length)) : 1;
    return { ref, score: score * named * (has / words.length) ** 3 };
  });
  return results.sort((a, b) => b.score - a.score);
}
