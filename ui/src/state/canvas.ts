import Graph from "graphology";
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import Sigma from "sigma";
import type { Edge, Node } from "./graph";
import type { Laid, ToLay } from "./layout.worker";
import { drawLabels, type Labelled } from "./labels";
import { dark } from "./theme";

/** Colours of types, told apart also by people who see few colours; more types share the last. */
const COLOURS = ["#4477aa", "#ee6677", "#228833", "#aa7a00", "#66ccee", "#aa3377", "#777777"];
/** The size of labels, in pixels. */
const LABEL = 12;
/** A selected node nearer to the edge than this is brought to the middle. */
const MARGIN = 48;

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
export function useCanvas(given: Drawn): RefObject<HTMLDivElement | null> {
  const { nodes, edges, types, selected } = given;
  const ref = useRef<HTMLDivElement>(null);
  const drawn = useRef<{ graph: Graph; sigma: Sigma } | null>(null);
  const latest = useRef(given);
  latest.current = given;
  const isDark = dark.value;

  useEffect(() => {
    if (!ref.current) return;
    const graph = new Graph({ multi: true });
    const sigma = open(graph, ref.current, latest);
    drawn.current = { graph, sigma };
    // The panel of an object takes a part of the room.
    const watcher = new ResizeObserver(() => {
      sigma.resize();
      sigma.refresh();
      bringIntoView(sigma, latest.current.selected);
    });
    watcher.observe(ref.current);
    return () => {
      watcher.disconnect();
      sigma.kill();
      drawn.current = null;
    };
  }, [isDark]);

  useEffect(() => {
    if (!drawn.current) return;
    const { graph, sigma } = drawn.current;
    fill(graph, nodes, edges, types);
    sigma.refresh();
    const element = sigma.getContainer();
    element.ariaBusy = "true";
    const worker = layout(graph, (isLast) => {
      if (isLast) element.ariaBusy = "false";
      sigma.refresh();
      bringIntoView(sigma, latest.current.selected);
    });
    return () => worker.terminate();
  }, [nodes, edges, types.join(), isDark]);

  useEffect(() => {
    if (!drawn.current) return;
    const { graph, sigma } = drawn.current;
    const near =
      selected && graph.hasNode(selected) ? new Set([selected, ...graph.neighbors(selected)]) : null;
    const faint = getComputedStyle(sigma.getContainer()).borderTopColor;
    sigma.setSetting("nodeReducer", (id, data) =>
      !near ? data : near.has(id) ? { ...data, forceLabel: true } : { ...data, color: faint, label: "" },
    );
    sigma.setSetting("edgeReducer", (edge, data) =>
      !near || graph.hasExtremity(edge, selected) ? data : { ...data, color: faint },
    );
    bringIntoView(sigma, selected);
  }, [selected, nodes, edges, isDark]);
  return ref;
}

function open(graph: Graph, element: HTMLElement, latest: RefObject<Drawn>): Sigma {
  const { color, outlineColor } = getComputedStyle(element); // sigma cannot read custom properties
  const ground = getComputedStyle(document.documentElement).backgroundColor;
  const labelled: Labelled[] = [];
  let layer: CanvasRenderingContext2D | null = null;
  const sigma = new Sigma(graph, element, {
    labelColor: { color },
    defaultEdgeColor: outlineColor,
    labelSize: LABEL,
    labelDensity: 0.6,
    labelRenderedSizeThreshold: 4,
    hideEdgesOnMove: true,
    allowInvalidContainer: true, // the element has no width while the page changes
    defaultDrawNodeHover: () => undefined,
    // Only remembered here: which labels have room is known when all are.
    defaultDrawNodeLabel: (context, node) => {
      layer = context;
      labelled.push(node as typeof node & Labelled); // sigma's types leave out the key
    },
  });
  sigma.on("beforeRender", () => void labelled.splice(0));
  sigma.on("clickNode", ({ node }) => latest.current?.choose(node));
  const ring = element.appendChild(document.createElement("div"));
  ring.className = "ring";
  sigma.on("afterRender", () => {
    const { width } = sigma.getDimensions();
    const style = { size: LABEL, font: "system-ui, sans-serif", ink: color, ground, width };
    if (layer) drawLabels(layer, labelled, latest.current?.selected ?? null, style);
    const at = latest.current?.selected ? sigma.getNodeDisplayData(latest.current.selected) : undefined;
    ring.hidden = at === undefined;
    if (!at) return;
    const { x, y } = sigma.framedGraphToViewport(at);
    ring.style.transform = `translate(${x}px, ${y}px)`;
  });
  return sigma;
}

/** Not before the nodes have their places: the camera would follow one that still moves. */
function bringIntoView(sigma: Sigma, id: string | null): void {
  if (sigma.getContainer().ariaBusy === "true") return;
  const at = id ? sigma.getNodeDisplayData(id) : undefined;
  if (!at) return;
  const { x, y } = sigma.framedGraphToViewport(at);
  const { width, height } = sigma.getDimensions();
  if (x > MARGIN && y > MARGIN && x < width - MARGIN && y < height - MARGIN) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  void sigma.getCamera().animate({ x: at.x, y: at.y }, { duration: calm ? 0 : 150 });
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
  for (const [from, to] of edges) {
    const key = `${from},${to}`;
    if (!graph.hasEdge(key) && graph.hasNode(from) && graph.hasNode(to)) {
      graph.addEdgeWithKey(key, from, to, { size: 1 });
    }
  }
  const base = nodes.length > 300 ? 3 : 5;
  graph.forEachNode((id) =>
    graph.setNodeAttribute(id, "size", Math.min(base + Math.sqrt(graph.degree(id)) * 1.6, 18)),
  );
}

/** Moves the nodes to better places, computed beside the page so that it stays fluid. */
function layout(graph: Graph, moved: (isLast: boolean) => void): Worker {
  const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  const ids = graph.nodes();
  const places = new Map(ids.map((id, i) => [id, i]));
  const given: ToLay = {
    at: Float32Array.from(
      ids.flatMap((id) => [graph.getNodeAttribute(id, "x"), graph.getNodeAttribute(id, "y")] as number[]),
    ),
    ends: Uint32Array.from(
      graph.mapEdges((_, __, from, to) => [places.get(from) ?? 0, places.get(to) ?? 0]).flat(),
    ),
  };
  worker.onmessage = ({ data }: MessageEvent<Laid>) => {
    if (data === null) {
      moved(true);
      return;
    }
    graph.updateEachNodeAttributes(
      (id, was) => {
        const i = 2 * (places.get(id) ?? 0);
        return { ...was, x: data[i] ?? 0, y: data[i + 1] ?? 0 };
      },
      { attributes: ["x", "y"] },
    );
    moved(false);
  };
  worker.postMessage(given);
  return worker;
}
