import type { ComponentChildren, VNode } from "preact";
import { expect, test } from "vitest";
import { parse } from "whence-client";
import { bytes, count, duration, relative, sameWords, unstarred } from "../src/text/format";
import { markdown, verbatim } from "../src/text/markdown";
import { wordFrom } from "../src/text/matches";
import { Points } from "../src/text/points";

/** Elements as text, to compare: tags in brackets. */
function flat(node: ComponentChildren): string {
  if (Array.isArray(node)) return node.map(flat).join("");
  if (node === null || node === undefined || typeof node === "boolean") return "";
  if (typeof node !== "object") return String(node);
  const { type, props } = node as VNode<{ children?: ComponentChildren; href?: string }>;
  return `(${String(type)}${props.href ? ` ${props.href}` : ""} ${flat(props.children)})`;
}

test.each([
  ["**b** _i_ `c`", "(p (strong b) (em i) (code c))"],
  ["<script>alert(1)</script>", "(p <script>alert(1)</script>)"],
  ["a <img src=x onerror=alert(1)> b", "(p a <img src=x onerror=alert(1)> b)"],
  ["[x](javascript:alert(1))", "(p x)"],
  ["[x](https://example.org)", "(p x (https://example.org))"],
  ["[plan](https://example.org/plan)", "(p plan (https://example.org/plan))"],
  ["see www.example.org.", "(p see www.example.org.)"],
  ["see https://example.org/a?b=c.", "(p see https://example.org/a?b=c.)"],
  ["<https://example.org>", "(p https://example.org)"],
  ["![x](https://example.org/i.png)", "(p ![x](https://example.org/i.png))"],
  ["- a\n- b", "(ul (li (span a))(li (span b)))"],
  ["a & b &lt;", "(p a & b &lt;)"],
])("markdown %s", (source, shown) => {
  expect(flat(markdown(source, (text) => text))).toBe(shown);
});

test("offsets count code points", () => {
  const points = new Points("a😀b文");
  expect([points.slice(1, 2), points.slice(2, 4), points.slice(3), points.unit(99)]).toEqual([
    "😀",
    "b文",
    "文",
    5,
  ]);
});

test("numbers have units", () => {
  expect([bytes(12), bytes(1234), bytes(20_000_000)]).toEqual(["12 B", "1.2 kB", "20 MB"]);
  expect([duration(12), duration(1500), duration(180_000)]).toEqual(["12 ms", "1.5 s", "3 min"]);
  expect([count(1, "chunk"), count(1204, "chunk"), count(2, "property", "properties")]).toEqual([
    "1 chunk",
    "1,204 chunks",
    "2 properties",
  ]);
  expect(relative("2026-01-01T00:00:00Z", Date.parse("2026-01-01T03:10:00Z"))).toBe("3 hours ago");
});

test("events of a stream", () => {
  expect(parse('event: token\ndata: {"text": "a"}')).toEqual({ name: "token", data: { text: "a" } });
  expect(parse(": still there")).toBeNull();
});

test("quotes are compared by their words, and shown as they stand", () => {
  expect(sameWords("due in\n 30 days", " Due in 30 days")).toBe(true);
  expect(sameWords("due in 30 days", "due in 45 days")).toBe(false);
  expect(flat(verbatim("* a *b*\n1) __c__", (text) => text))).toBe("(p * a *b*)(p 1) __c__)");
  expect(flat(verbatim("the roof and\nthe boiler\nPriority: high", (text) => text))).toBe(
    "(p the roof and the boiler\nPriority: high)",
  );
  expect(unstarred("Searched for *ledger* instead of *ledgr*")).toBe(
    "Searched for “ledger” instead of “ledgr”",
  );
});

test("an excerpt begins at a word about 100 characters before its place", () => {
  const text = `${"sea ".repeat(20)}\u{1f30a}${"storm ".repeat(30)}`;
  const points = new Points(text);
  const from = wordFrom(points, 150);
  expect(from).toBeGreaterThanOrEqual(50);
  expect(points.slice(from - 1, from)).toBe(" ");
  expect(points.slice(from)).toMatch(/^sea /);
  expect(wordFrom(points, 100)).toBe(0);
  expect(wordFrom(points, Infinity)).toBe(0);
  expect(wordFrom(new Points("x".repeat(300)), 200)).toBe(100);
});
