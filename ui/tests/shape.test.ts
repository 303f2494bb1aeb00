import { expect, test } from "vitest";
import { named, typeOf, type JsonSchema } from "../src/text/shape";

const turn = { $ref: "#/components/schemas/HistoryTurn" };

test.each<[JsonSchema, string]>([
  [{ type: "string" }, "string"],
  [{ type: "string", format: "uuid" }, "uuid"],
  [{ enum: ["read", "write"], type: "string" }, '"read" | "write"'],
  [{ const: true, type: "boolean" }, "true"],
  [turn, "HistoryTurn"],
  [{ anyOf: [{ items: turn, type: "array" }, { type: "null" }] }, "list of HistoryTurn | null"],
  [{ anyOf: [{ type: "string" }, { type: "string", format: "uuid" }, { type: "string" }] }, "string | uuid"],
  [{ type: "array" }, "list"],
  [{}, "any value"],
])("the type of %j is %s", (schema, type) => expect(typeOf(schema)).toBe(type));

test("a schema names what its fields, items and alternatives refer to, each once", () => {
  const schema = {
    properties: { a: { anyOf: [{ items: turn }, { type: "null" }] }, b: turn },
    type: "object",
  };
  expect(named(schema)).toEqual(["HistoryTurn"]);
  expect(named(turn)).toEqual(["HistoryTurn"]);
  expect(named({ type: "string" })).toEqual([]);
});
