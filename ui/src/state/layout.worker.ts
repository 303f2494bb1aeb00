import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

/** The nodes' places (x and y in turn) and the ends of the edges (two nodes in turn). */
export interface ToLay {
  at: Float32Array;
  ends: Uint32Array;
}
/** Better places, in the same order; null after the last. */
export type Laid = Float32Array | null;

const ROUNDS = 6;

/** Better places for the nodes of a graph, told several times on the way. */
onmessage = ({ data: { at, ends } }: MessageEvent<ToLay>) => {
  const graph = new Graph({ multi: true });
  for (let i = 0; i < at.length / 2; i += 1) graph.addNode(i, { x: at[2 * i], y: at[2 * i + 1] });
  for (let i = 0; i < ends.length; i += 2) graph.addEdge(ends[i], ends[i + 1]);
  const iterations = graph.order > 2000 ? 12 : 30;
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 300 };
  for (let round = 0; round < ROUNDS; round += 1) {
    forceAtlas2.assign(graph, { iterations, settings });
    const found = Float32Array.from(graph.mapNodes((_, { x, y }) => [x as number, y as number]).flat());
    postMessage(found satisfies Laid);
  }
  postMessage(null satisfies Laid);
};
