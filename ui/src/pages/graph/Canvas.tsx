import { useCanvas } from "../../state/canvas";
import type { Edge, Node } from "../../state/graph";

/** The picture of the graph; the table has the same for keyboards and screen readers. */
export function Canvas(props: {
  nodes: Node[];
  edges: Edge[];
  types: string[];
  selected: string | null;
  choose: (id: string) => void;
}) {
  const ref = useCanvas(props);
  return (
    <div
      ref={ref}
      class="canvas"
      role="img"
      aria-label={`Graph of ${props.nodes.length} objects; the table shows the same`}
    />
  );
}
