// How results of the search of the docs are ranked. typedoc looks for names that contain what was typed; people also type questions. The
// build writes the text of this function into typedoc's script (search_script.mjs), so it uses nothing from outside.

/** Returns the results of a lunr index for a text, as [{ ref, score }, ...] with the best first; `rows` are what they refer to. */
export function ranked(typed, index, rows) {
  const kAsides =
    "a all an and any are as at be by can cannot did do does for from get has have how i if go in into is it its me my need not of on or should " +
    "so that the them then there this to use using want was we what when where which while why will with without work would you your";
  const kFew = 3;
  const asides = new Set(kAsides.split(" "));
  // Nearly everything here is about them.
  const commonplace = new Set(["tensor", "tensors"]);
  // lunr gives these signs a meaning of its own.
  const all = typed
    .toLowerCase()
    .replaceAll(/[:~^+*?!,;"'`()[\]{}]/g, " ")
    .split(/[\s-]+/)
    .map((word) => word.replaceAll(/^\W+|\W+$/g, ""))
    .filter((word) => word !== "");
  const without = (words, others) => {
    const rest = words.filter((word) => !others.has(word));
    return rest.length > 0 ? rest : words;
  };
  const telling = without(all, asides);
  const words = [...new Set(without(telling, commonplace))];
  const found = new Map();
  let isMistyped = false;
  const beginningWith = (word) => {
    const stem = word.length > 4 ? word.replace(/(?:ing|ies|es|ed|s)$/, "") : word;
    return index.search(`${word}^10 ${word}*^2 ${stem}*`);
  };
  // Takes longer than others: words of the index are compared letter by letter.
  const nearTo = (word) => {
    const near = word.length < 4 ? [] : index.search(`${word}~1`);
    return near.length > 0 || word.length < 8 ? near : index.search(`${word}~2`);
  };
  // The words of a name that is written as one: model.eval, BatchNormalization.
  const partsOf = (word) => {
    const at = typed.toLowerCase().indexOf(word);
    const written = at < 0 ? word : typed.slice(at, at + word.length);
    const parts = written.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
    return parts.length > 1
      ? parts.map((part) => part.toLowerCase()).filter((part) => part.length > 2)
      : [];
  };
  const hitsOf = (word) => {
    const beginning = beginningWith(word);
    if (beginning.length >= kFew) {
      // Of "embeding", only the stem begins a word of the index.
      const near = index.search(`${word}*`).length > 0 ? [] : nearTo(word);
      if (near.length === 0) return beginning;
      isMistyped = true;
      return near;
    }
    // Takes much longer, as every word of the index is compared.
    const inside = index.search(`${word}^10 *${word}*`);
    const parts = partsOf(word);
    if (inside.length > 0 && (parts.length === 0 || word.includes("."))) return inside;
    const counts = new Map();
    for (const part of parts)
      for (const { ref, score } of beginningWith(part)) {
        const before = counts.get(ref) ?? { score: 0, words: 0 };
        counts.set(ref, { score: before.score + score, words: before.words + 1 });
      }
    const byParts = [...counts].map(([ref, { score, words: has }]) => ({
      ref,
      score: score * (has / parts.length) ** 3,
    }));
    const refs = new Set(inside.map(({ ref }) => ref));
    const hits = [...inside, ...byParts.filter(({ ref }) => !refs.has(ref))];
    if (hits.length > 0) return hits;
    // A slip of the finger.
    isMistyped = true;
    return nearTo(word);
  };
  for (const word of words) {
    const hits = hitsOf(word);
    for (const { ref, score } of hits) {
      const before = found.get(ref) ?? { score: 0, words: 0 };
      found.set(ref, { score: before.score + score, words: before.words + 1 });
    }
  }
  // A name that was typed nearly as it is comes first, and what has more of the words before what has fewer.
  const plain = (text) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const start = plain(typed);
  // Words in a row, written as one, as names are.
  const spelled = new Set();
  for (let i = 0; i < all.length; i++)
    for (let end = i + 2; end <= all.length && end <= i + 4; end++)
      spelled.add(plain(all.slice(i, end).join("")));
  const results = [...found].map(([ref, { score, words: has }]) => {
    const row = rows[Number(ref)];
    const name = plain(row.name);
    const isNear = isMistyped && Math.abs(name.length - start.length) < 3 && name[0] === start[0];
    const isNamed = start !== "" && (name.startsWith(start) || isNear);
    // A class may have a method of the name, and many classes the same.
    const most = row.url.includes("#") ? 2 : isMistyped ? 40 : 10;
    const away = Math.abs(name.length - start.length);
    // One of several words is a name: "conv2d padding same".
    const isCalled = /^(functions|classes)\/[^#]*$/.test(row.url) && name.length > 3;
    const isWord = words.length > 1 && isCalled && words.some((word) => plain(word) === name);
    // Several are: "one hot encoding", "cross entropy of logits".
    const isSpelled = isCalled && spelled.has(name);
    const named = isNamed ? Math.max(1, most / (1 + away)) : isSpelled ? 12 : isWord ? 7 : 1;
    // People look for what they call, not for its types.
    const kind = /^(types|interfaces)\//.test(row.url) ? 0.3 : row.url.includes("#") ? 0.6 : 1;
    return { ref, score: score * kind * named * (has / words.length) ** 3 };
  });
  return results.sort((a, b) => b.score - a.score);
}
