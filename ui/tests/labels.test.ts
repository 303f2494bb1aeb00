import { describe, expect, test } from "vitest";
import { drawLabels, type Labelled } from "../src/state/labels";

const STYLE = { size: 12, font: "sans-serif", ink: "#000", ground: "#fff", width: 100 };

/** The labels that were drawn, with the left edge of each. */
function drawn(nodes: Labelled[], selected: string | null): [string, number][] {
  const seen: [string, number][] = [];
  const context = {
    measureText: (text: string) => ({ width: 6 * text.length }),
    strokeText: () => undefined,
    fillText: (text: string, left: number) => seen.push([text, left]),
  };
  drawLabels(context as unknown as CanvasRenderingContext2D, nodes, selected, STYLE);
  return seen;
}

function node(key: string, x: number, y: number): Labelled {
  return { key, label: key, x, y, size: 4 };
}

describe("labels of the graph", () => {
  test("none is drawn over another", () => {
    expect(drawn([node("harbour", 0, 0), node("quay", 20, 5), node("pier", 20, 30)], null)).toEqual([
      ["harbour", 8],
      ["pier", 28],
    ]);
  });

  test("one that the edge would cut is drawn left of its node, if it has room there", () => {
    expect(drawn([node("harbour", 90, 0), node("a very long name", 90, 30)], null)).toEqual([
      ["harbour", 40],
      ["a very long name", 98],
    ]);
  });

  test("that of the selected node has room before others, and begins beside its ring", () => {
    expect(drawn([node("harbour", 0, 0), node("quay", 20, 5)], "quay")).toEqual([["quay", 40]]);
  });
});
