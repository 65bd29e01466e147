// How a page of the reference looks: one signature with the other forms folded, inherited members as links, and Tensor with a page for each
// topic.

import {
  DeclarationReflection,
  DefaultTheme,
  DefaultThemeRenderContext,
  JSX,
  KindRouter,
  ReflectionKind,
} from "typedoc";
import { inheritedOf } from "./inherited.mjs";
import { neighborsOf } from "./site_frame.mjs";

const { createElement: h, Fragment } = JSX;

// The pages of the guide, in the order of its first page.
const kOrder = [];

/** Sets the order in which the pages of the guide lead to each other. */
export function orderDocuments(documents) {
  kOrder.splice(0, kOrder.length, ...documents);
}

// Overloads that say nothing of their own.
const kFolded = new WeakSet();

/** Shows an overload only as a signature. */
export function fold(signature) {
  kFolded.add(signature);
}

class Context extends DefaultThemeRenderContext {
  constructor(...given) {
    super(...given);
    const { documentTemplate, memberSignatures, members, pageNavigation } = this;
    this.documentTemplate = (props) =>
      h(Fragment, null, documentTemplate(props), this.#neighbors(props.model));
    this.memberSignatures = (props) => this.#signatures(props, memberSignatures);
    // The page of a namespace is a list of names, which the side would repeat.
    const isList = ({ model }) => model.kindOf(ReflectionKind.Project | ReflectionKind.Namespace);
    this.pageNavigation = (props) => (isList(props) ? h(Fragment, null) : pageNavigation(props));
    this.members = (props) => this.#members(props, members);
  }

  #neighbors(document) {
    const [before, after] = neighborsOf(document, kOrder);
    if (before === null && after === null) return h(Fragment, null);
    const link = (page, rel) =>
      page &&
      h("a", { href: this.urlTo(page), rel }, rel === "prev" ? `← ${page.name}` : `${page.name} →`);
    return h(
      "nav",
      { class: "neighbors", "aria-label": "Pages of the guide" },
      h("span", null, link(before, "prev")),
      h("span", null, link(after, "next")),
    );
  }

  #signatures(props, whole) {
    const folded = props.signatures.filter((signature) => kFolded.has(signature));
    if (folded.length === 0) return whole(props);
    const shown = props.signatures.filter((signature) => !kFolded.has(signature));
    const forms = folded.map((signature) =>
      h("div", { class: "tsd-signature", id: this.getAnchor(signature) }, this.#form(signature)),
    );
    const title = folded.length === 1 ? "1 other form" : `${folded.length} other forms`;
    return h(
      Fragment,
      null,
      whole(Object.create(props, { signatures: { value: shown } })),
      h("details", { class: "forms" }, h("summary", null, title), forms),
    );
  }

  // The type of all ways to split arguments between positions and options fills pages.
  #form(signature) {
    const text = textOf(this.memberSignatureTitle(signature));
    if (text.length < kLongForm) return text;
    return `${text.split("(")[0]}(… by position, { … the rest by name })`;
  }

  #members(props, whole) {
    const parts = this.router.topicsOf(props) === null ? [whole(props)] : [];
    for (const [base, members] of inheritedOf(props)) {
      const links = members.map((member) =>
        h("li", null, h("a", { href: this.urlTo(member) }, member.name)),
      );
      const title = `${members.length} members of ${base.getFriendlyFullName()}`;
      parts.push(
        h(
          "details",
          { class: "inherited" },
          h("summary", null, title),
          h("ul", { class: "tsd-index-list" }, links),
        ),
      );
    }
    return h(Fragment, null, parts);
  }
}

/** The theme "reference". */
export class ReferenceTheme extends DefaultTheme {
  ContextClass = Context;
}

const kLongForm = 800;

// The text of an element: the markup of a signature is ten times as long.
function textOf(element) {
  return JSX.renderElement(element)
    .replaceAll(/<br\s*\/?>/g, "\n")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&nbsp;", " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

// The class with a page for each of its categories.
const kSplit = "Tensor";

/** The router "reference": addresses by kind, and those of Tensor's members by their topic. */
export class ReferenceRouter extends KindRouter {
  #topics = new Map();
  #split = null;

  buildChildPages(reflection, pages) {
    super.buildChildPages(reflection, pages);
    const isTop = reflection.parent?.isProject() && reflection.kindOf(ReflectionKind.Class);
    if (isTop && reflection.name === kSplit) this.#splitPages(reflection, pages);
  }

  #splitPages(owner, pages) {
    this.#split = owner;
    for (const category of owner.categories) {
      const page = new DeclarationReflection(
        `${owner.name}: ${category.title}`,
        ReflectionKind.Class,
        owner,
      );
      page.children = category.children;
      const file = `classes/${owner.name}.${category.title.replaceAll(/\W+/g, "_").toLowerCase()}`;
      const url = this.getFileName(file);
      this.fullUrls.set(page, url);
      this.sluggers.set(page, this.sluggers.get(owner));
      pages.push({ kind: "reflection", model: page, url });
      for (const child of category.children) this.#move(child, page, url);
    }
  }

  #move(reflection, page, url) {
    const anchor = this.anchors.get(reflection);
    if (anchor !== undefined) {
      this.fullUrls.set(reflection, `${url}#${anchor}`);
      this.#topics.set(reflection, page);
    }
    reflection.traverse((child) => {
      this.#move(child, page, url);
      return true;
    });
  }

  /** Returns the class itself if its members are on pages of their own, else null. */
  topicsOf(reflection) {
    return reflection === this.#split ? reflection : null;
  }

  relativeUrl(from, to) {
    const page = this.#topics.get(to);
    if (page === undefined) return super.relativeUrl(from, to);
    let own = from;
    while (!this.hasOwnDocument(own)) own = own.parent;
    const anchor = `#${this.getAnchor(to)}`;
    return own === page ? anchor : super.relativeUrl(own, page) + anchor;
  }
}
