import { expect, test } from "vitest";
import { problemAt, read } from "../src/text/schema";
import { blocks, type Box } from "../src/text/blocks";
import { fit } from "../src/text/fit";
import { matchedSentence, unwrapped } from "../src/text/matches";
import { brokenAt, placeOf } from "../src/text/place";

const SCHEMA = `{
  "object_types": {
    "A.b": { "properties": { "size": { "type": "nope", "enum": [1, "}"] } } },
    "Thing": {},
    "Thing": { "required": ["x"] }
  }
}`;

function at(path: string): string {
  const { start, end, line } = placeOf(SCHEMA, path);
  return `${line} ${SCHEMA.slice(start, end)}`;
}

test("a path of the server's check is found in the text", () => {
  expect(at("object_types.A.b.properties.size.type")).toBe('3 "nope"');
  expect(at("object_types.A.b.properties.size.enum[1]")).toBe('3 "}"');
  expect(at("object_types.Thing")).toBe('5 { "required": ["x"] }');
  expect(at("object_types.Thing.required[0]")).toBe('5 "x"');
  expect(at("object_types.A.b.properties.size.merge"), "what is missing leads to what it misses").toMatch(
    /^3 \{ "type"/,
  );
  expect(placeOf(SCHEMA, "relationship_types").line).toBe(1);
});

test("a text that is no JSON is broken at its place", () => {
  const text = '{\n  "a": 1,\n}';
  const { schema, problem } = read(text);
  expect(schema).toBeNull();
  expect(problem?.place?.line).toBe(3);
  expect(brokenAt(text, "no place")).toBeNull();
  expect(read('{"object_types": {"A": 3}}').schema).toBeNull();
});

test("a problem belongs to its field and to what is around it", () => {
  const problem = { message: "wrong", path: "object_types.A.properties.size.type", place: null };
  expect(problemAt(problem, "object_types.A.properties.size")).toBe("wrong");
  expect(problemAt(problem, "object_types.A")).toBe("wrong");
  expect(problemAt(problem, "object_types.A.properties.siz")).toBeNull();
  expect(problemAt(null, "object_types.A")).toBeNull();
});

test("a hit opens at the sentence with most of the matched words", () => {
  const text = "The storm came 😀. Repairs of the storm cost much.\nNothing else.";
  const points = [...text];
  const find = (word: string, from = 0): { start: number; end: number } => {
    const start = points.join("").indexOf(word, from) - (from ? 1 : 0); // one character has two units
    return { start, end: start + word.length };
  };
  const { start, end } = matchedSentence(text, [find("storm"), find("Repairs", 17), find("storm", 20)]);
  expect(points.slice(start, end).join("")).toBe("Repairs of the storm cost much.");
  expect(matchedSentence(text, [])).toEqual({ start: 0, end: points.length });
  expect(matchedSentence("东京很大。它有很多人。", [{ start: 7, end: 9 }])).toEqual({ start: 5, end: 11 });
});

test("lines of one column are one box, another column begins another", () => {
  const line = (x0: number, y0: number): { x0: number; y0: number; x1: number; y1: number } => ({
    x0,
    y0,
    x1: x0 + 0.4,
    y1: y0 + 0.02,
  });
  const found = blocks([line(0.1, 0.8), line(0.12, 0.83), line(0.55, 0.1)]);
  expect(found.map((one) => [one.x0, one.y0, one.x1.toFixed(2), one.y1.toFixed(2)])).toEqual([
    [0.1, 0.8, "0.52", "0.85"],
    [0.55, 0.1, "0.95", "0.12"],
  ]);
});

test("a title over two columns has a box of its own", () => {
  const box = (x0: number, y0: number, x1: number): Box => ({ x0, y0, x1, y1: y0 + 0.02 });
  const title = box(0.1, 0.1, 0.8);
  const left = [box(0.1, 0.2, 0.45), box(0.1, 0.23, 0.45)];
  const right = [box(0.55, 0.2, 0.9), box(0.55, 0.23, 0.9)];
  const whole = { x0: 0.1, y0: 0.2, x1: 0.45, y1: 0.25 };
  expect(blocks([title, ...left], right)).toEqual([title, whole]);
  expect(blocks([title, ...left, ...right])).toHaveLength(3);
  expect(blocks([title, ...left])).toHaveLength(1);
});

test("a printed line is stretched to its box, upright or turned", () => {
  const page = { width: 500, height: 1000 };
  const wide = { text: "four", rect: { x0: 0.1, y0: 0.1, x1: 0.5, y1: 0.12 } };
  const flat = fit(wide, page, (text) => text.length / 2);
  expect([flat.size.toFixed(3), flat.stretch.toFixed(2), flat.vertical]).toEqual(["0.040", "5.00", false]);
  const tall = { text: "four", rect: { x0: 0.1, y0: 0.1, x1: 0.12, y1: 0.5 } };
  const turned = fit(tall, page, (text) => text.length / 2);
  expect([turned.size.toFixed(3), turned.stretch.toFixed(2), turned.vertical]).toEqual([
    "0.020",
    "20.00",
    true,
  ]);
  expect(fit({ ...wide, text: "" }, page, () => 0).stretch).toBe(1);
});

test("wrapped lines of a sentence belong together", () => {
  const text =
    "Title\n\nRepairs went over budget because of the storm of 9\nFebruary, which\ntore off the roof. More.";
  const storm = text.indexOf("storm");
  const { start, end } = matchedSentence(text, [{ start: storm, end: storm + 5 }]);
  expect(unwrapped(text.slice(start, end))).toBe(
    "Repairs went over budget because of the storm of 9 February, which tore off the roof.",
  );
  expect(unwrapped("四万克\n朗，最后")).toBe("四万克朗，最后");
  expect(unwrapped("1. Open the window of the hall\n2. Close it")).toContain("\n");
  expect(unwrapped("Requirement: OAuth of the sign-in\nExpiration: 1 hour")).toContain("\n");
  expect(unwrapped("Requirement: OAuth\nExpiration: 1 hour")).toBe("Requirement: OAuth\nExpiration: 1 hour");
});
