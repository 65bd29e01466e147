// The files that the repository's host reads: workflows, templates, the development container. Each can be parsed, and the
// commands and files that it names exist.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
// A dependency of typedoc, which package-lock.json installs at the top level.
import { parse } from "yaml";
import { kRoot, readJson } from "../support/files.mjs";

const textOf = (name) => readFileSync(join(kRoot, name), "utf8");
const namesIn = (folder) => readdirSync(join(kRoot, folder)).map((name) => `${folder}/${name}`);
const { scripts, files } = readJson("package.json");

const kWorkflows = namesIn(".github/workflows").map((name) => ({
  ...parse(textOf(name)),
  name,
  text: textOf(name),
}));
const stepsOf = ({ jobs }) => Object.values(jobs).flatMap(({ steps }) => steps);
const commandsOf = (workflow) => stepsOf(workflow).flatMap(({ run }) => (run ? [run] : []));

describe("workflows", () => {
  test("run what a developer runs: npm test for pull requests, .ci/run on main and every night", () => {
    const callers = (command) =>
      kWorkflows.filter((workflow) => commandsOf(workflow).includes(command));
    const [tests, ...others] = callers("npm test");
    assert.deepEqual(others, []);
    assert.ok("pull_request" in tests.on);
    const [everything] = callers("bash .ci/run");
    assert.deepEqual(everything.on.push.branches, ["main"]);
    assert.equal(everything.on.schedule.length, 1);
  });

  for (const workflow of kWorkflows) {
    test(`${workflow.name}: reads the repository and no more, ends by itself, pins its actions`, () => {
      assert.deepEqual(workflow.permissions, { contents: "read" });
      for (const [id, job] of Object.entries(workflow.jobs)) {
        assert.ok(job["timeout-minutes"] <= 360, id);
        // Provenance is signed with an identity of the workflow run; no other job may request one, or more permissions.
        const isPublishing = job.steps.some(({ run }) => run?.includes("npm publish"));
        const more = isPublishing ? { contents: "read", "id-token": "write" } : undefined;
        assert.deepEqual(job.permissions, more, id);
      }
      const actions = stepsOf(workflow).flatMap(({ uses }) => (uses ? [uses] : []));
      for (const action of actions) assert.match(action, /^[\w-]+\/[\w-]+@(?:v\d+|[0-9a-f]{40})$/);
      // In a pull request, its author chooses these values.
      assert.doesNotMatch(workflow.text, /\$\{\{\s*github\.(?:event|head_ref)/);
    });

    test(`${workflow.name}: names commands, jobs and files that are there`, () => {
      for (const command of commandsOf(workflow)) {
        for (const [, name] of command.matchAll(/\bnpm run ([\w:]+)/g))
          assert.ok(scripts[name], name);
        for (const [path] of command.matchAll(/(?<![\w/.])(?:\.ci|scripts|tests)\/[\w./-]*\w/g)) {
          assert.ok(existsSync(join(kRoot, path)), path);
        }
      }
      for (const [, names] of workflow.text.matchAll(/hashFiles\(([^)]*)\)/g)) {
        for (const [, path] of names.matchAll(/'([^']+)'/g))
          assert.ok(existsSync(join(kRoot, path)), path);
      }
      const ids = Object.keys(workflow.jobs);
      for (const { needs } of Object.values(workflow.jobs)) {
        for (const id of [needs ?? []].flat()) assert.ok(ids.includes(id), id);
      }
    });
  }

  test("nothing is published but by hand, and then it is only tried unless that is switched off", () => {
    const publishing = kWorkflows.filter(({ text }) => text.includes("npm publish"));
    assert.equal(publishing.length, 1);
    const [{ on }] = publishing;
    assert.deepEqual(Object.keys(on), ["workflow_dispatch"]);
    assert.equal(on.workflow_dispatch.inputs["dry-run"].default, true);
  });

  test("elsewhere than on Linux every folder of the package's tests runs, and is said to be untried", () => {
    const jobs = kWorkflows.flatMap((workflow) => Object.values(workflow.jobs));
    const [job, ...others] = jobs.filter(({ strategy }) => strategy?.matrix.os);
    assert.deepEqual(others, []);
    assert.deepEqual(job.strategy.matrix.os, ["macos-latest", "windows-latest"]);
    assert.match(job.name, /untried/);
    assert.equal(job["continue-on-error"], true);
    const { run } = job.steps.find(({ run }) => run?.includes("--test"));
    const [, folders] = run.match(/tests\/js\/\{([^}]*)\}/);
    const there = readdirSync(join(kRoot, "tests/js")).filter(
      (name) => !["package", "project", "support", "types"].includes(name),
    );
    assert.deepEqual(folders.split(",").sort(), there.sort());
  });
});

describe("issue forms", () => {
  const forms = namesIn(".github/ISSUE_TEMPLATE").filter((name) => !name.endsWith("config.yml"));
  for (const name of forms) {
    test(`${name} has what a form needs`, () => {
      const form = parse(textOf(name));
      assert.ok(form.name && form.description);
      const fields = form.body.filter(({ type }) => type !== "markdown");
      assert.ok(fields.some(({ validations }) => validations.required));
      for (const { type, id, attributes } of fields) {
        assert.ok(["input", "textarea", "dropdown", "checkboxes"].includes(type), type);
        assert.match(id, /^[a-z]+$/);
        assert.ok(attributes.label);
      }
      assert.equal(new Set(fields.map(({ id }) => id)).size, fields.length);
    });
  }

  test("there is one for bugs and one for features", () => assert.equal(forms.length, 2));
});

describe("pages for maintainers", () => {
  const pages = ["SECURITY.md", ".github/PULL_REQUEST_TEMPLATE.md"];

  test("name npm commands that are there", () => {
    for (const page of pages) {
      for (const [, name] of textOf(page).matchAll(/`npm run ([\w:]+)/g))
        assert.ok(scripts[name], name);
    }
  });

  test("stay out of the package", () => {
    assert.ok(!files.some((name) => name.includes("SECURITY") || name.startsWith(".github")));
  });

  test("the development container is Debian 12 with a Node that the package supports", () => {
    const { image, remoteUser, postCreateCommand } = readJson(".devcontainer/devcontainer.json");
    assert.match(image, /:20-bookworm$/);
    assert.equal(remoteUser, "root");
    assert.match(postCreateCommand, /^npm ci\b/);
  });
});
