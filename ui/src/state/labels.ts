import { overlap, type Area } from "../text/areas";

/** Half the width of the ring around the selected node. */
const RING = 16;
const GAP = 4;

/** What is known of a node when its label is drawn. */
export interface Labelled {
  key: string;
  label: string | null;
  x: number;
  y: number;
  size: number;
}
interface Style {
  size: number;
  font: string;
  ink: string;
  /** The colour behind the graph. */
  ground: string;
  /** The width of the canvas, in pixels. */
  width: number;
}

/** Draws the labels of a graph right of their nodes, or left of them at the edge: that of the selected one first, and none over another. */
export function drawLabels(
  context: CanvasRenderingContext2D,
  nodes: readonly Labelled[],
  selected: string | null,
  { size, font, ink, ground, width }: Style,
): void {
  const drawn: Area[] = [];
  const isFirst = (one: Labelled): number => Number(one.key === selected);
  for (const node of nodes.toSorted((a, b) => isFirst(b) - isFirst(a))) {
    if (!node.label) continue;
    context.font = `${size}px ${font}`;
    const away = Math.max(node.size, node.key === selected ? RING : 0) + GAP;
    const long = context.measureText(node.label).width;
    const isCut = node.x + away + long > width && node.x - away >= long;
    const left = isCut ? node.x - away - long : node.x + away;
    const area = { left, right: left + long, top: node.y - size / 2, bottom: node.y + size / 2 };
    if (drawn.some((other) => overlap(area, other))) continue;
    drawn.push(area);
    // A rim in the colour of the ground keeps the words readable over edges and nodes.
    context.lineJoin = "round";
    context.lineWidth = 4;
    context.strokeStyle = ground;
    context.strokeText(node.label, left, node.y + size / 3);
    context.fillStyle = ink;
    context.fillText(node.label, left, node.y + size / 3);
  }
}
