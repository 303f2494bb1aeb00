import { marked as lexer } from "marked";
import { expect, test } from "vitest";
import { footnoted, marked, MARKS, numbering, sentences, soFar, unsupported } from "../src/text/answer";
import type { Citation, Source } from "../src/api/client";

const A = "01890000-0000-7000-8000-00000000000a";
const B = "01890000-0000-7000-8000-00000000000b";

function citation(part: Partial<Citation>): Citation {
  return {
    responseStart: 0,
    responseEnd: 1,
    chunkId: A,
    documentId: A,
    startOffset: 0,
    endOffset: 1,
    page: null,
    quote: null,
    support: 1,
    supportLevel: "verbatim",
    supported: true,
    origin: "model",
    judgement: null,
    judgedBy: null,
    ...part,
  } as Citation;
}

test("a sentence has the best level of its citations", () => {
  const found = sentences([
    citation({ supportLevel: "loose" }),
    citation({ supportLevel: "close", chunkId: B }),
    citation({ responseStart: 5, responseEnd: 9, supportLevel: "none", chunkId: null, startOffset: null }),
  ]);
  expect(found.map((one) => [one.level, one.citations])).toEqual([
    ["close", [0, 1]],
    ["none", []],
  ]);
});

test("markers become chips and sentences are marked, also after characters outside the BMP", () => {
  const text = `😀 Rain fell. [${A}] It stopped.`;
  const made = marked(text, [
    citation({ responseStart: 0, responseEnd: 12 }),
    citation({ responseStart: 52, responseEnd: 63, chunkId: B, origin: "attributed" }),
  ]);
  const { sentence, end, chip, stop } = MARKS;
  expect(made).toBe(
    `${sentence}0${stop}😀 Rain fell.${end}${chip}0:${A}${stop} ${sentence}1${stop}It stopped.${end}${chip}1:${B}${stop}`,
  );
});

test("marks never come from the answer itself", () => {
  expect(marked(`\ufffcx\ufffc`, [])).toBe("\ufffdx\ufffd");
});

test("stars, underscores and fences keep their meaning beside marks", () => {
  const said = (text: string): string =>
    lexer.parse(marked(text, [citation({ responseStart: 0, responseEnd: text.length })]), { async: false });
  expect(said("**Whales sing.**")).toContain("<strong>Whales sing.</strong>");
  expect(said("_Whales sing._")).toContain("<em>Whales sing.</em>");
  expect(said("```\nlet x;\n```")).toContain("let x;\n</code>");
});

test("a list item keeps its bullet", () => {
  expect(marked("- One", [citation({ responseStart: 0, responseEnd: 5 })])).toMatch(/^- \ufffcs0/);
});

test("footnotes number the sources as the chips do", () => {
  const text = `One. [${B}] Two. [${A}]`;
  const sources = [
    { id: A, source: "a.txt", page: null },
    { id: B, source: "b.pdf", page: 3 },
  ] as never;
  expect([...numbering(text, []).values()]).toEqual([1, 2]);
  expect(footnoted(text, [], sources)).toBe("One. [1] Two. [2]\n\n[1] b.pdf, page 3\n[2] a.txt\n");
  const cited = [citation({ chunkId: B, page: 4, quote: "One." })];
  expect(footnoted(text, cited, sources)).toContain('[1] b.pdf, page 4: "One."');
  const quotes = [
    { chunkId: B, page: 3, quote: "One." },
    { chunkId: A, quote: "Two." },
    { chunkId: B, page: 4, quote: "Three\nis wrapped." },
    { chunkId: B, page: 3, quote: "Four." },
    { chunkId: B, page: 3, quote: "One." },
  ].map(citation);
  expect(footnoted(text, quotes, sources)).toBe(
    'One. [1] Two. [2]\n\n[1] b.pdf, page 3: "One."; "Four."; page 4: "Three is wrapped."\n[2] a.txt: "Two."\n',
  );
});

test("a marker behind a table's row goes into its last cell", () => {
  const made = marked(`| a |\n|---|\n| b | [${A}]`, [citation({ responseStart: 0, responseEnd: 17 })]);
  const { sentence, end, chip, stop } = MARKS;
  expect(made).toBe(`| ${sentence}0${stop}a |\n|---|\n| b ${end}${chip}0:${A}${stop}|`);
});

test("half a marker is not shown", () => {
  for (const half of [" [", ` [${A.slice(0, 20)}`, ` [${A}`])
    expect(soFar(`One hour${half}`)).toBe("One hour");
  expect(soFar(`One hour [${A}]`)).toBe(`One hour [${A}]`);
});

test("a chunk that only LightRAG has is cited like the others", () => {
  const foreign = `doc-${"0f".repeat(16)}-chunk-003`;
  const cited = citation({
    chunkId: foreign,
    documentId: null,
    startOffset: null,
    endOffset: null,
    quote: "It rains.",
  });
  const text = `It rains [${foreign}].`;
  expect([...numbering(text, [cited])]).toEqual([[foreign, 1]]);
  expect(marked(text, [cited])).toContain(`${MARKS.chip}0:${foreign}${MARKS.stop}`);
  expect(footnoted(text, [cited], [])).toBe(`It rains [1].\n\n[1] ${foreign}: "It rains."\n`);
});

test("what no source supports is named without its markdown, also when copied", () => {
  const text = `- **Whales** sing in \`June\`. [${A}]\n\n**They go. To [the south](https://x.org/).**\n\n| x | y |\n|---|---|\n| a | _b_ |`;
  const end = text.indexOf("\n");
  const [they, to, row] = ["**They", "To", "| a"].map((words) => text.indexOf(words)) as [
    number,
    number,
    number,
  ];
  const none = { supportLevel: "none", startOffset: null } as const;
  const bare = [
    citation({ ...none, responseEnd: end }),
    citation({ ...none, responseStart: they, responseEnd: to - 1, chunkId: null }),
    citation({ ...none, responseStart: to, responseEnd: text.indexOf("\n", to), chunkId: null }),
    citation({ ...none, responseStart: row, responseEnd: text.length, chunkId: null }),
  ];
  const source = { id: A, source: "sea.md" } as Source;
  const words = ["Whales sing in June.", "They go.", "To the south.", "a, b"];
  expect(unsupported(text, bare, [source])).toEqual(words);
  expect(unsupported(text, bare, [])).toEqual([]);
  expect(footnoted(text, bare, [source])).toContain(
    `\n\n⚠ No source for: ${words.map((one) => `“${one}”`).join(", ")}\n\n[1] sea.md\n`,
  );
});
