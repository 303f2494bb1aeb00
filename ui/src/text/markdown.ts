import { marked, type Token, type Tokens } from "marked";
import { h, type ComponentChildren } from "preact";

/** How to show a piece of plain text; called in reading order. */
export type Leaf = (text: string) => ComponentChildren;

/**
 * Markdown as elements. No HTML is ever parsed: tags in the source are shown as text, so that nothing in an
 * answer can run. Only http and https links become links; images become links to them.
 */
export function markdown(source: string, leaf: Leaf): ComponentChildren[] {
  return blocks(marked.lexer(source, { gfm: true, breaks: false }), leaf);
}

/** A line that ends within a sentence: the next begins with a small letter. */
const WRAPPED = /(?<=[\p{L}\p{N},])\n(?=\p{Ll})/gu;

/** Quoted text as it stands, line by line; only wrapped lines are joined and tables drawn. */
export function verbatim(source: string, leaf: Leaf): ComponentChildren[] {
  return marked.lexer(source, { gfm: true }).flatMap((token, key) => {
    if (token.type === "space") return [];
    if (token.type === "table") return [table(token as Tokens.Table, key, leaf)];
    return [h("p", { key, class: "as-is" }, leaf(token.raw.trimEnd().replace(WRAPPED, " ")))];
  });
}

function blocks(tokens: Token[], leaf: Leaf): ComponentChildren[] {
  return tokens.flatMap((token, i) => block(token, i, leaf) ?? []);
}

function block(token: Token, key: number, leaf: Leaf): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return h(`h${Math.min((token as Tokens.Heading).depth + 2, 6)}`, { key }, inline(token.tokens, leaf));
    case "paragraph":
      return h("p", { key }, inline(token.tokens, leaf));
    case "blockquote":
      return h("blockquote", { key }, blocks(token.tokens ?? [], leaf));
    case "code":
      return h("pre", { key }, h("code", null, leaf((token as Tokens.Code).text)));
    case "hr":
      return h("hr", { key });
    case "list":
      return list(token as Tokens.List, key, leaf);
    case "table":
      return table(token as Tokens.Table, key, leaf);
    case "text":
      return h("span", { key }, token.tokens ? inline(token.tokens, leaf) : leaf(token.raw));
    default:
      return h("p", { key }, leaf(token.raw));
  }
}

function list(token: Tokens.List, key: number, leaf: Leaf): ComponentChildren {
  const items = token.items.map((item, i) => h("li", { key: i }, blocks(item.tokens, leaf)));
  return token.ordered ? h("ol", { key, start: token.start || 1 }, items) : h("ul", { key }, items);
}

function table(token: Tokens.Table, key: number, leaf: Leaf): ComponentChildren {
  const head = token.header.map((cell, i) => h("th", { key: i, scope: "col" }, inline(cell.tokens, leaf)));
  const rows = token.rows.map((row, r) =>
    h(
      "tr",
      { key: r },
      row.map((cell, i) => h("td", { key: i }, inline(cell.tokens, leaf))),
    ),
  );
  const body = h("table", null, [h("thead", null, h("tr", null, head)), h("tbody", null, rows)]);
  return h("div", { key, class: "scroll-x" }, body);
}

function inline(tokens: Token[] | undefined, leaf: Leaf): ComponentChildren[] {
  return (tokens ?? []).map((token, key) => {
    switch (token.type) {
      case "strong":
      case "em":
      case "del":
        return h(token.type, { key }, inline(token.tokens, leaf));
      case "codespan":
        return h("code", { key }, leaf((token as Tokens.Codespan).text));
      case "br":
        return h("br", { key });
      case "link":
        return link(token as Tokens.Link, key, leaf);
      case "escape":
        return leaf((token as Tokens.Escape).text);
      case "text":
        return token.tokens ? inline(token.tokens, leaf) : leaf((token as Tokens.Text).text);
      default:
        return leaf(token.raw);
    }
  });
}

function link(token: Tokens.Link, key: number, leaf: Leaf): ComponentChildren {
  if (!/^https?:\/\//i.test(token.href)) return inline(token.tokens, leaf);
  return h(
    "a",
    { key, href: token.href, target: "_blank", rel: "noopener noreferrer" },
    inline(token.tokens, leaf),
  );
}
