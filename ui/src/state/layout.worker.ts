import Graph from "graphology";
import type { SerializedGraph } from "graphology-types";
import forceAtlas2 from "graphology-layout-forceatlas2";

const ROUNDS = 6;

/** Better places for the nodes of a graph, told several times on the way. */
onmessage = (event: MessageEvent<SerializedGraph>) => {
  const graph = new Graph({ multi: true });
  graph.import(event.data);
  const iterations = graph.order > 2000 ? 8 : 30;
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 300 };
  for (let round = 0; round < ROUNDS; round += 1) {
    forceAtlas2.assign(graph, { iterations, settings });
    postMessage(
      Object.fromEntries(graph.mapNodes((id, { x, y }) => [id, { x: x as number, y: y as number }])),
    );
  }
};
