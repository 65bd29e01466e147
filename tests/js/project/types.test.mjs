// The package's type declarations compile in user projects with various settings, and match the
// implementation.

import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { runNode } from "../support/child.mjs";
import { kRoot } from "../support/files.mjs";

const folder = mkdtempSync(join(tmpdir(), "edgegrad-types-"));
after(() => rmSync(folder, { recursive: true }));

// Installed in the same way as by npm.
const installed = join(folder, "node_modules", "edgegrad");
mkdirSync(installed, { recursive: true });
cpSync(join(kRoot, "package.json"), join(installed, "package.json"));
cpSync(join(kRoot, "dist"), join(installed, "dist"), { recursive: true });
cpSync(join(kRoot, "tests", "js", "types"), folder, { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
writeFileSync(
  join(folder, "console.d.ts"),
  "declare const console: { log(...values: unknown[]): void };\n",
);

const kSetups = {
  "Node's resolution, without the DOM": ["--module", "nodenext", "--lib", "es2022"],
  "a bundler's resolution": [
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--lib",
    "es2022",
  ],
};

/** The oldest compiler that the package supports, the last of TypeScript 5, and that of the checkout and of the templates. */
const kCompilers = ["typescript-5.2", "typescript-5.9", "typescript"];

function compile(options, ...files) {
  return compileWith("typescript", options, ...files);
}

function compileWith(version, options, ...files) {
  const compiler = join(kRoot, "node_modules", version, "bin", "tsc");
  const common = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022"];
  const args = [...common, "--typeRoots", "none", "--pretty", "false", ...options, ...files];
  // The types of the DOM have a console.
  const own = options.some((one) => one.includes("dom")) ? [] : ["console.d.ts"];
  return runNode([compiler, ...args, ...own], { cwd: folder });
}

for (const [name, options] of Object.entries(kSetups)) {
  test(`programs compile with ${name}`, async () => {
    const { status, stdout } = await compile(options, "program.ts", "inferred.ts");
    assert.equal(status, 0, stdout);
  });
}

test("a page that opens and saves models compiles with the types of the DOM", async () => {
  const options = ["--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom"];
  const { status, stdout } = await compile(options, "page.ts");
  assert.equal(status, 0, stdout);
});

for (const version of kCompilers) {
  const bundler = ["--module", "esnext", "--moduleResolution", "bundler"];

  test(`bytes go to the functions of the platform in ${version}`, async () => {
    const options = [...bundler, "--lib", "es2022,dom,dom.iterable"];
    const { status, stdout } = await compileWith(version, options, "bytes.ts");
    assert.equal(status, 0, stdout);
  });

  test(`the declarations of every entry compile with the library of ES2020 in ${version}`, async () => {
    const options = [...bundler, "--lib", "es2020", "--skipLibCheck", "false"];
    const { status, stdout } = await compileWith(version, options, "entries.ts");
    assert.equal(status, 0, stdout);
  });
}

// What a project has in node_modules beside edgegrad, by the names that the packages have there.
const kFrameworks = {
  "React 19": {
    file: "react.tsx",
    packages: { "@types/react": "@types/react", csstype: "csstype" },
  },
  "React 18": {
    file: "react.tsx",
    packages: {
      "@types/react": "types-react-18",
      "@types/prop-types": "@types/prop-types",
      csstype: "csstype",
    },
  },
  Preact: { file: "preact.tsx", packages: { preact: "preact" } },
  Solid: {
    file: "solid.tsx",
    packages: { "solid-js": "solid-js", csstype: "csstype", seroval: "seroval" },
  },
  Vue: { file: "vue.ts", packages: { vue: "vue", "@vue": "@vue", csstype: "csstype" } },
  "a page": { file: "page.ts", packages: {} },
};

for (const [name, { file, packages }] of Object.entries(kFrameworks)) {
  for (const version of kCompilers.slice(1)) {
    test(`${name} knows the elements of edgegrad/vis in ${version}`, async () => {
      const project = mkdtempSync(join(folder, "project-"));
      const links = Object.entries(packages).map(([to, from]) => [
        to,
        join(kRoot, "node_modules", from),
      ]);
      for (const [to, from] of [...links, ["edgegrad", installed]]) {
        const path = join(project, "node_modules", to);
        mkdirSync(dirname(path), { recursive: true });
        symlinkSync(from, path, "junction");
      }
      cpSync(join(kRoot, "tests", "js", "types", "elements", file), join(project, file));
      const resolution = ["--module", "esnext", "--moduleResolution", "bundler"];
      const options = ["--jsx", "react-jsx", "--lib", "es2022,dom,dom.iterable", "--skipLibCheck"];
      const { status, stdout } = await compileWith(
        version,
        // Packages are found beside the link, as beside a package that is installed.
        [...resolution, ...options, "--preserveSymlinks"],
        join(project, file),
      );
      assert.equal(status, 0, stdout);
    });
  }
}

test("the compiler shows what to write for the length of a tensor", async () => {
  const program =
    "import { ones } from 'edgegrad';\nexport const rows: number = ones([2]).length;\n";
  writeFileSync(join(folder, "length.ts"), program);
  const { status, stdout } = await compile(Object.values(kSetups)[1], "length.ts");
  assert.notEqual(status, 0);
  assert.match(stdout, /length\.ts\(2,14\).*x\.shape\[0\] or x\.numel/);
});

test("the error of a misspelled option suggests the right one", async () => {
  const lines = readFileSync(join(folder, "misspelled.ts"), "utf8").split("\n");
  const expected = lines.flatMap((line, i) => {
    const [, name] = /; \/\/ (\w+)$/.exec(line) ?? [];
    return name === undefined ? [] : [[i + 1, name]];
  });
  assert.ok(expected.length > 30);
  const [, options] = Object.entries(kSetups)[0];
  const { stdout } = await compile(options, "misspelled.ts");
  const errors = stdout.split(/^(?=misspelled\.ts\()/m);
  const found = errors.map((error) => {
    const [, line] = /^misspelled\.ts\((\d+),/.exec(error) ?? [];
    const [, name] = /Did you mean to write '(\w+)'/.exec(error) ?? [];
    return [Number(line), name ?? error];
  });
  assert.deepEqual(found, expected);
});
