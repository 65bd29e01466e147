// Buttons below the programs of the docs that run in their page. What runs them (demos/site/live) is loaded with the first press. And a switch
// above those that are there in Python, too.

{
  const root = new URL(`${document.documentElement.dataset.base}../`, location.href);
  const label = { run: "Run", edit: "Edit", share: "Share" };

  // The lines of a listing are separated by elements.
  const textOf = (listing) => {
    const copy = listing.querySelector("code").cloneNode(true);
    for (const line of copy.querySelectorAll("br")) line.replaceWith("\n");
    return copy.textContent;
  };

  // The mark is in a paragraph of its own.
  const listingBefore = (mark) => (mark.closest("p") ?? mark).previousElementSibling;

  const files = {};
  for (const mark of document.querySelectorAll("[data-live-file]")) {
    const listing = listingBefore(mark);
    if (listing?.matches("pre")) files[mark.dataset.liveFile] = textOf(listing);
  }

  const button = (text) => {
    const element = document.createElement("button");
    element.type = "button";
    element.textContent = text;
    return element;
  };

  const makeLive = (mark, number) => {
    const listing = listingBefore(mark);
    if (!listing?.matches("pre")) return;
    const controls = document.createElement("div");
    controls.className = "live-controls";
    controls.id = `live-${number}`;
    const [run, edit, share] = Object.values(label).map(button);
    run.classList.add("live-run");
    const note = document.createElement("output");
    controls.append(run, edit, share, note);
    listing.after(controls);

    let panel = null;
    const opened = () => {
      const block = { listing, controls, code: textOf(listing), files };
      panel ??= import(new URL("live.js", root)).then(({ open }) => open(block));
      panel.catch((error) => {
        panel = null;
        note.textContent = `This program cannot run here: ${error.message}`;
      });
      return panel;
    };
    run.addEventListener("click", async () => (await opened()).run(run));
    edit.addEventListener("click", async () => (await opened()).edit(run));
    share.addEventListener("click", async () => {
      const change = panel === null ? null : await (await panel).address();
      const address = new URL(location.href);
      address.hash = `live-${number}${change === null ? "" : `=${change}`}`;
      history.replaceState(history.state, "", address);
      const isCopied = await navigator.clipboard?.writeText(address.href).then(
        () => true,
        () => false,
      );
      note.textContent = isCopied ? "The link is copied." : "The link is in the address bar.";
    });

    const [, given] = new RegExp(`^#live-${number}=(.*)$`).exec(location.hash) ?? [];
    if (given === undefined) return;
    void opened().then((live) => live.edit(run, given));
    controls.scrollIntoView({ block: "center" });
  };

  document.querySelectorAll("[data-live]").forEach(makeLive);
}

// A listing of Python that follows a program in JavaScript and says what it prints is the same program: one of them is shown.
{
  const kKept = "edgegrad-docs-language";
  const kTitles = { js: "JavaScript", python: "Python" };
  const sets = [];

  const keep = (name) => {
    try {
      if (name === undefined) return localStorage.getItem(kKept);
      localStorage.setItem(kKept, name);
    } catch {
      // Some browsers store nothing.
    }
    return null;
  };

  const choose = (name) => {
    for (const { buttons, parts } of sets) {
      for (const one of Object.keys(kTitles)) {
        parts[one].hidden = one !== name;
        buttons[one].setAttribute("aria-pressed", String(one === name));
      }
    }
  };

  // The listing in JavaScript and its buttons; null if there is none.
  const programBefore = (listing) => {
    const parts = [];
    for (let at = listing.previousElementSibling; at !== null; at = at.previousElementSibling) {
      parts.unshift(at);
      if (at.matches("pre")) return at.querySelector("code.js") === null ? null : parts;
      const isOfProgram =
        at.matches(".live-controls, .live-mark") || at.matches("p:has(> .live-mark)");
      if (!isOfProgram) return null;
    }
    return null;
  };

  for (const code of document.querySelectorAll("pre > code.python")) {
    const python = code.parentElement;
    const program = code.textContent.includes("# → ") ? programBefore(python) : null;
    if (program === null) continue;
    const group = document.createElement("div");
    group.className = "languages";
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", "Language");
    const buttons = {};
    for (const [name, title] of Object.entries(kTitles)) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title;
      button.addEventListener("click", () => {
        // What is above changes its height: the button stays where it is.
        const { top } = button.getBoundingClientRect();
        choose(name);
        keep(name);
        scrollBy({ top: button.getBoundingClientRect().top - top, behavior: "instant" });
      });
      group.append(button);
      buttons[name] = button;
    }
    const js = document.createElement("div");
    program[0].before(group, js);
    js.append(...program);
    sets.push({ buttons, parts: { js, python } });
  }
  choose(keep() === "python" ? "python" : "js");
}
