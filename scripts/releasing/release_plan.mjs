// What a release changes: which version comes next, where versions are written, and the section of CHANGELOG.md.

/** The fields of package.json that only the owner of the repository can fill in; provenance needs the first. */
const kOwnersFields = ["repository", "homepage", "bugs"];

const kVersion = /^\d+\.\d+\.\d+$/;
const kUnreleased = /^## (?:\[?unreleased\]?|(\d+\.\d+\.\d+) \(unreleased\))[^\S\n]*$/im;

const kInManifest = /^( {2}"version": ")[^"]+(",)$/gm;

/** Where the version is written: the text around it, which must occur at least `count` times. The first `count` occurrences are changed. */
const kPlaces = {
  "package.json": { pattern: kInManifest },
  "create/package.json": { pattern: kInManifest },
  // The packages of the checkout come before those of node_modules. `npm version` leaves out that of create/ without a network.
  "package-lock.json": { pattern: /^((?: {2}| {6})"version": ")[^"]+(",)$/gm, count: 3 },
  "CMakeLists.txt": { pattern: /^(project\(edgegrad VERSION )[\d.]+( )/gm },
  "web/src/runtime/start/version.ts": { pattern: /^(export const kVersion = ")[^"]+(";)$/gm },
};

/** The files that a release changes. */
export const kReleasedFiles = [...Object.keys(kPlaces), "CHANGELOG.md"];

const kSteps = ["major", "minor", "patch"];

/** Returns the version that `wanted` (patch, minor, major or a version) means; null if it is invalid. */
export function nextVersion(current, wanted) {
  const at = kSteps.indexOf(wanted);
  if (at < 0) return kVersion.test(wanted) ? wanted : null;
  const numbers = current.split(".").map(Number);
  return [...numbers.slice(0, at), numbers[at] + 1, 0, 0].slice(0, 3).join(".");
}

/** Returns a negative number if version `a` is older than `b`, and 0 if they are equal. */
export const compareVersions = (a, b) => a.localeCompare(b, "en", { numeric: true });

/** Returns a sentence for each reason why `version` cannot be released; `starter` is the manifest of create-edgegrad. */
export function obstacles({ manifest, starter, changelog, version, isClean, hasTag }) {
  const missing = kOwnersFields.filter((field) => !manifest[field]);
  const section = unreleasedSection(changelog);
  const reasons = {
    "The working tree has changes: commit or stash them.": !isClean,
    [`The tag v${version} exists already.`]: hasTag,
    [`${version} is older than package.json's ${manifest.version}.`]:
      compareVersions(version, manifest.version) < 0,
    [`package.json has no ${missing.join(", no ")}: the owner of the public repository fills them in; npm refuses provenance without a repository.`]:
      missing.length > 0,
    "create/package.json has no repository: npm refuses provenance without one.":
      !starter.repository,
    'CHANGELOG.md has no section "## Unreleased".': !section,
    [`CHANGELOG.md's section is called ${section?.version}, the release ${version}.`]:
      (section?.version ?? version) !== version,
    "CHANGELOG.md's unreleased section is empty: say what has changed.":
      section && !/^[-*] \S/m.test(section.body),
  };
  return Object.keys(reasons).filter((reason) => reasons[reason]);
}

/** Returns { heading, version, body } of the unreleased section, or null; `version` if its heading has one. */
export function unreleasedSection(changelog) {
  const match = kUnreleased.exec(changelog);
  if (!match) return null;
  const rest = changelog.slice(match.index + match[0].length);
  const [body] = rest.split(/^## /m);
  return { heading: match[0], version: match[1] ?? null, body };
}

/** Returns the changelog with the unreleased section renamed to a version and a date. */
export function datedChangelog(changelog, version, date) {
  return changelog.replace(kUnreleased, `## ${version} (${date})`);
}

/** Returns the text of a file with the version replaced; throws if the file does not contain the version in the expected places. */
export function withVersion(file, text, version) {
  const { pattern, count = 1 } = kPlaces[file];
  let seen = 0;
  const result = text.replace(pattern, (found, before, after) =>
    ++seen <= count ? before + version + after : found,
  );
  if (seen < count) throw new Error(`${file} has the version in ${seen} places, not ${count}`);
  return result;
}
