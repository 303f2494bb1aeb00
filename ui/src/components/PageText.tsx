import { useLines, widthOf, type Line } from "../state/lines";
import { fit } from "../text/fit";

/** What a reader does with the text of a page, by its offset in the document. */
export interface OnText {
  pick: (offset: number) => void;
  /** The pointer is over it; null: no longer. */
  over: (offset: number | null) => void;
}

/** The words of a page over its picture, not drawn: to select, to copy and to find. */
export function PageText(props: {
  documentId: string;
  version: number;
  page: { page: number; width: number; height: number };
  on?: OnText;
}) {
  const lines = useLines(props.documentId, props.page.page, props.version);
  const { on } = props;
  return (
    <div class="page-text">
      {lines.map((line) => (
        <p
          key={line.start}
          style={lineStyle(line, props.page)}
          onMouseEnter={on && (() => on.over(line.start))}
          onMouseLeave={on && (() => on.over(null))}
          onClick={on && (() => getSelection()?.isCollapsed && on.pick(line.start))}
        >
          {line.text}
        </p>
      ))}
    </div>
  );
}

function lineStyle(line: Line, page: { width: number; height: number }): Record<string, string> {
  const { size, stretch, vertical } = fit(line, page, widthOf);
  return {
    left: `${line.rect.x0 * 100}%`,
    top: `${line.rect.y0 * 100}%`,
    fontSize: `${size * 100}cqw`,
    ...(vertical && { writingMode: "vertical-rl" }),
    transform: vertical ? `scaleY(${stretch})` : `scaleX(${stretch})`,
  };
}
