import Graph from "graphology";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import Sigma from "sigma";
import type { Edge, Node } from "./graph";
import { theme } from "./theme";

/** Colours of types, told apart also by people who see few colours; more types share the last. */
const COLOURS = ["#4477aa", "#ee6677", "#228833", "#aa7a00", "#66ccee", "#aa3377", "#777777"];

export function colourOf(type: string, types: readonly string[]): string {
  return COLOURS[Math.min(Math.max(types.indexOf(type), 0), COLOURS.length - 1)] ?? "#777777";
}

interface Drawn {
  nodes: Node[];
  edges: Edge[];
  types: readonly string[];
  selected: string | null;
  choose: (id: string) => void;
}

/** Draws a graph into an element; a worker finds the places of its nodes. */
export function useCanvas({
  nodes,
  edges,
  types,
  selected,
  choose,
}: Drawn): RefObject<HTMLDivElement | null> {
  const ref = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ graph: Graph; sigma: Sigma } | null>(null);
  const chosen = useRef(choose);
  chosen.current = choose;
  const dark = theme.value;

  useEffect(() => {
    if (!ref.current) return;
    const ink = getComputedStyle(document.documentElement);
    const graph = new Graph({ multi: true });
    const sigma = new Sigma(graph, ref.current, {
      labelColor: { color: ink.getPropertyValue("--ink").trim() },
      defaultEdgeColor: ink.getPropertyValue("--line").trim(),
      labelFont: "system-ui, sans-serif",
      labelSize: 12,
      labelDensity: 0.6,
      labelRenderedSizeThreshold: 4,
      hideEdgesOnMove: true,
      allowInvalidContainer: true, // the element has no width while the page changes
      defaultDrawNodeHover: () => undefined,
    });
    sigma.on("clickNode", ({ node }) => chosen.current(node));
    drawn.current = { graph, sigma };
    return () => {
      sigma.kill();
      drawn.current = null;
    };
  }, [dark]);

  useEffect(() => {
    if (!drawn.current) return;
    const { graph, sigma } = drawn.current;
    fill(graph, nodes, edges, types);
    const worker = layout(graph, () => sigma.refresh());
    sigma.refresh();
    return () => worker.terminate();
  }, [nodes.length, edges.length, types.join(), dark]);

  useEffect(() => {
    if (!drawn.current) return;
    const { graph, sigma } = drawn.current;
    const near =
      selected && graph.hasNode(selected) ? new Set([selected, ...graph.neighbors(selected)]) : null;
    const faint = getComputedStyle(document.documentElement).getPropertyValue("--line").trim();
    sigma.setSetting("nodeReducer", (id, data) =>
      !near
        ? data
        : near.has(id)
          ? { ...data, forceLabel: true, highlighted: id === selected }
          : { ...data, color: faint, label: "" },
    );
    sigma.refresh();
  }, [selected, nodes.length, edges.length, dark]);
  return ref;
}

function fill(graph: Graph, nodes: Node[], edges: Edge[], types: readonly string[]): void {
  const known = new Set(nodes.map((one) => one.id));
  graph.forEachNode((id) => !known.has(id) && graph.dropNode(id));
  nodes.forEach((one, i) => {
    if (graph.hasNode(one.id)) return;
    const turn = i * 2.399963; // the golden angle spreads them evenly
    const radius = Math.sqrt(i + 1) * 10;
    graph.addNode(one.id, {
      label: one.name,
      color: colourOf(one.type, types),
      x: radius * Math.cos(turn),
      y: radius * Math.sin(turn),
      size: 3,
    });
  });
  for (const one of edges) {
    if (!graph.hasEdge(one.id) && graph.hasNode(one.source_id) && graph.hasNode(one.target_id)) {
      graph.addEdgeWithKey(one.id, one.source_id, one.target_id, { size: 1 });
    }
  }
  const base = nodes.length > 300 ? 3 : 5;
  graph.forEachNode((id) =>
    graph.setNodeAttribute(id, "size", Math.min(base + Math.sqrt(graph.degree(id)) * 1.6, 18)),
  );
}

/** Moves the nodes to better places, computed beside the page so that it stays fluid. */
function layout(graph: Graph, moved: () => void): Worker {
  const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = (event: MessageEvent<Record<string, { x: number; y: number }>>) => {
    for (const [id, at] of Object.entries(event.data))
      if (graph.hasNode(id)) graph.mergeNodeAttributes(id, at);
    moved();
  };
  worker.postMessage(graph.export());
  return worker;
}
