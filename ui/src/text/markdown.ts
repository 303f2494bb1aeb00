import { marked, type Token, type Tokens } from "marked";
import { h, type ComponentChildren } from "preact";
import { unwrapped } from "./matches";

/** How to show a piece of plain text; called in reading order. */
export type Leaf = (text: string) => ComponentChildren;

/** How text and links are shown. Addresses that are not `live` are shown as text. */
interface Look {
  leaf: Leaf;
  live: (address: string) => boolean;
}

/**
 * Markdown as elements. No HTML is ever parsed: tags in the source are shown as text, so that nothing in an
 * answer can run. Only http and https links that are `live` become links; images never load.
 */
export function markdown(source: string, leaf: Leaf, live: Look["live"] = () => false): ComponentChildren[] {
  return blocks(marked.lexer(source, { gfm: true, breaks: false }), { leaf, live });
}

/** Quoted text as it stands, line by line; only wrapped lines are joined and tables drawn. */
export function verbatim(source: string, leaf: Leaf): ComponentChildren[] {
  return marked.lexer(source, { gfm: true }).flatMap((token, key) => {
    if (token.type === "space") return [];
    if (token.type === "table") return [table(token as Tokens.Table, key, { leaf, live: () => false })];
    return [h("p", { key, class: "as-is" }, leaf(unwrapped(token.raw.trimEnd())))];
  });
}

/** The words of a markdown text in one line, with commas between the cells of a table. */
export function plain(source: string): string {
  return marked.lexer(source, { gfm: true }).map(wordsOf).join(" ").replace(/\s+/g, " ");
}

function wordsOf(token: Token): string {
  switch (token.type) {
    case "space":
    case "def":
    case "hr":
      return "";
    case "blockquote":
      return (token.tokens ?? []).map(wordsOf).join(" ");
    case "list":
      return (token as Tokens.List).items.flatMap((item) => item.tokens.map(wordsOf)).join(" ");
    case "table": {
      const { header, rows } = token as Tokens.Table;
      const line = (row: Tokens.TableCell[]): string =>
        row.map((cell) => cell.tokens.map(wordsOf).join("")).join(", ");
      return [header, ...rows].map(line).join(" ");
    }
    default:
      if ("tokens" in token && token.tokens) return token.tokens.map(wordsOf).join("");
      return token.type === "html" || !("text" in token) ? token.raw : String(token.text);
  }
}

function blocks(tokens: Token[], look: Look): ComponentChildren[] {
  return tokens.flatMap((token, i) => block(token, i, look) ?? []);
}

function block(token: Token, key: number, look: Look): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return h(`h${Math.min((token as Tokens.Heading).depth + 2, 6)}`, { key }, inline(token.tokens, look));
    case "paragraph":
      return h("p", { key }, inline(token.tokens, look));
    case "blockquote":
      return h("blockquote", { key }, blocks(token.tokens ?? [], look));
    case "code":
      return h("pre", { key }, h("code", null, look.leaf((token as Tokens.Code).text)));
    case "hr":
      return h("hr", { key });
    case "list":
      return list(token as Tokens.List, key, look);
    case "table":
      return table(token as Tokens.Table, key, look);
    case "text":
      return h("span", { key }, token.tokens ? inline(token.tokens, look) : look.leaf(token.raw));
    default:
      return h("p", { key }, look.leaf(token.raw));
  }
}

function list(token: Tokens.List, key: number, look: Look): ComponentChildren {
  const items = token.items.map((item, i) => h("li", { key: i }, blocks(item.tokens, look)));
  return token.ordered ? h("ol", { key, start: token.start || 1 }, items) : h("ul", { key }, items);
}

function table(token: Tokens.Table, key: number, look: Look): ComponentChildren {
  const number = (i: number): string | undefined => (token.align[i] === "right" ? "number" : undefined);
  const head = token.header.map((cell, i) =>
    h("th", { key: i, scope: "col", class: number(i) }, inline(cell.tokens, look)),
  );
  const rows = token.rows.map((row, r) =>
    h(
      "tr",
      { key: r },
      row.map((cell, i) => h("td", { key: i, class: number(i) }, inline(cell.tokens, look))),
    ),
  );
  const body = h("table", null, [h("thead", null, h("tr", null, head)), h("tbody", null, rows)]);
  // The keyboard scrolls a table that is wider than the page.
  return h("div", { key, class: "scroll-x", tabIndex: 0, role: "group", "aria-label": "Table" }, body);
}

function inline(tokens: Token[] | undefined, look: Look): ComponentChildren[] {
  return (tokens ?? []).map((token, key) => {
    switch (token.type) {
      case "strong":
      case "em":
      case "del":
        return h(token.type, { key }, inline(token.tokens, look));
      case "codespan":
        return h("code", { key }, look.leaf((token as Tokens.Codespan).text));
      case "br":
        return h("br", { key });
      case "link":
        return link(token as Tokens.Link, key, look);
      case "escape":
        return look.leaf((token as Tokens.Escape).text);
      case "text":
        return token.tokens ? inline(token.tokens, look) : look.leaf((token as Tokens.Text).text);
      default:
        return look.leaf(token.raw);
    }
  });
}

function link(token: Tokens.Link, key: number, look: Look): ComponentChildren {
  const inside = inline(token.tokens, look);
  if (!/^https?:\/\//i.test(token.href)) return inside;
  if (look.live(token.href))
    return h("a", { key, href: token.href, target: "_blank", rel: "noopener noreferrer" }, inside);
  const bare = [token.href, token.href.replace(/^https?:\/\//i, "")].includes(token.text);
  return bare ? inside : [inside, ` (${token.href})`];
}
