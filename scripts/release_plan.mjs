// What a release changes: which version comes next, where versions are written, and the section of CHANGELOG.md.

/** The fields of package.json that only the owner of the repository can fill in; provenance needs the first. */
const kOwnersFields = ["repository", "homepage", "bugs"];

const kVersion = /^(\d+)\.(\d+)\.(\d+)$/;
const kUnreleased = /^## (?:\[?unreleased\]?|(\d+\.\d+\.\d+) \(unreleased\))[^\S\n]*$/im;

/** Where the version is written: `pattern` has the text around it and must match `count` times, or `first` times and more. */
const kPlaces = [
  { file: "package.json", pattern: /^( {2}"version": ")[^"]+(",)$/gm, count: 1 },
  { file: "create/package.json", pattern: /^( {2}"version": ")[^"]+(",)$/gm, count: 1 },
  // The packages of the checkout come before those of node_modules.
  { file: "package-lock.json", pattern: /^((?: {2}| {6})"version": ")[^"]+(",)$/gm, first: 3 },
  { file: "CMakeLists.txt", pattern: /^(project\(edgegrad VERSION )[\d.]+( )/gm, count: 1 },
  {
    file: "web/src/runtime/version.ts",
    pattern: /^(export const kVersion = ")[^"]+(";)$/gm,
    count: 1,
  },
];

/** The files that a release changes. */
export const kReleasedFiles = [...kPlaces.map(({ file }) => file), "CHANGELOG.md"];

/** Returns the version that `wanted` means: patch, minor, major or a version; null where it means none. */
export function nextVersion(current, wanted) {
  const [, major, minor, patch] = current.match(kVersion).map(Number);
  if (wanted === "major") return `${major + 1}.0.0`;
  if (wanted === "minor") return `${major}.${minor + 1}.0`;
  if (wanted === "patch") return `${major}.${minor}.${patch + 1}`;
  return kVersion.test(wanted) ? wanted : null;
}

/** Returns a negative number where version `a` is older than `b`, 0 where they are the same. */
export function compareVersions(a, b) {
  const [first, second] = [a, b].map((version) => version.split(".").map(Number));
  const at = first.findIndex((part, i) => part !== second[i]);
  return at < 0 ? 0 : first[at] - second[at];
}

/** Returns a sentence for each reason why `version` cannot be released; `starter` is the manifest of create-edgegrad. */
export function obstacles({ manifest, starter, changelog, version, isClean, hasTag }) {
  const found = [];
  if (!isClean) found.push("The working tree has changes: commit or stash them.");
  if (hasTag) found.push(`The tag v${version} is there already.`);
  if (compareVersions(version, manifest.version) < 0)
    found.push(`${version} is older than package.json's ${manifest.version}.`);
  const missing = kOwnersFields.filter((field) => !manifest[field]);
  if (missing.length > 0) {
    found.push(
      `package.json has no ${missing.join(", no ")}: the owner of the public repository fills them in; npm refuses provenance without a repository.`,
    );
  }
  if (!starter.repository)
    found.push("create/package.json has no repository: npm refuses provenance without one.");
  return [...found, ...obstaclesInChangelog(changelog, version)];
}

function obstaclesInChangelog(changelog, version) {
  const section = unreleasedSection(changelog);
  if (!section) return ['CHANGELOG.md has no section "## Unreleased".'];
  const found = [];
  if (section.version && section.version !== version)
    found.push(`CHANGELOG.md's section is called ${section.version}, the release ${version}.`);
  if (!/^[-*] \S/m.test(section.body))
    found.push("CHANGELOG.md's unreleased section is empty: say what has changed.");
  return found;
}

/** Returns { heading, version, body } of the section that is not released yet, or null; `version` where its heading has one. */
export function unreleasedSection(changelog) {
  const match = kUnreleased.exec(changelog);
  if (!match) return null;
  const rest = changelog.slice(match.index + match[0].length);
  const [body] = rest.split(/^## /m);
  return { heading: match[0], version: match[1] ?? null, body };
}

/** Returns the changelog with the unreleased section as that of a version, released on a day. */
export function datedChangelog(changelog, version, date) {
  return changelog.replace(kUnreleased, `## ${version} (${date})`);
}

/** Returns the text of a file with the version replaced; throws if the file does not contain the version where it should. */
export function withVersion(file, text, version) {
  const { pattern, count, first } = kPlaces.find((place) => place.file === file);
  let seen = 0;
  const result = text.replace(pattern, (found, before, after) =>
    ++seen <= (first ?? count) ? before + version + after : found,
  );
  if (first ? seen < first : seen !== count)
    throw new Error(`${file} has the version in ${seen} places, not ${first ?? count}`);
  return result;
}
