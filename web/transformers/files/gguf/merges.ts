// The merges of byte pairs that do what the scores of pieces do.

/** Returns the pairs that are joined, the first ones first: those of pieces with high scores. */
export function mergesOfScores(
  ids: Readonly<Record<string, number>>,
  tokens: readonly string[],
  scores: ArrayLike<number>,
): [string, string][] {
  const known = new Map(Object.entries(ids));
  const pairs: { pair: [string, string]; score: number; order: readonly [number, number] }[] = [];
  tokens.forEach((token, id) => {
    // Half a character is not a piece.
    const letters = Array.from(token);
    for (let i = 1; i < letters.length; i++) {
      const pair: [string, string] = [letters.slice(0, i).join(""), letters.slice(i).join("")];
      const [left, right] = [known.get(pair[0]), known.get(pair[1])];
      if (left === undefined || right === undefined) continue;
      pairs.push({ pair, score: scores[id] as number, order: [left, right] });
    }
  });
  pairs.sort((a, b) => b.score - a.score || a.order[0] - b.order[0] || a.order[1] - b.order[1]);
  return pairs.map(({ pair }) => pair);
}
