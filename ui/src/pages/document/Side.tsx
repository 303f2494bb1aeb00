import { sideOpen, type Whole } from "../../state/document";
import { usePanel } from "../../state/panel";
import { query, setQuery, withQuery } from "../../state/router";
import { isSmall } from "../../state/screen";
import { Chunks } from "./Chunks";
import { Claims } from "./Claims";
import { Versions } from "./Versions";

const TABS = { chunks: "Chunks", claims: "Claims", versions: "Versions", metadata: "Metadata" } as const;
type Tab = keyof typeof TABS;

/** What was made of the document. A click finds its place at the left. */
export function Side(props: { whole: Whole; selected: string | null; reload: () => void }) {
  const { document, chunks } = props.whole;
  const named = query.value.get("tab") ?? "";
  const tab = named in TABS ? (named as Tab) : "chunks";
  const isOpen = sideOpen.value;
  const closed = isOpen && isSmall.value ? withQuery({ tab: null }) : null;
  usePanel(closed);
  return (
    <aside class="document-side" aria-label="Made of this document">
      <div class="row tabs" role="group" aria-label="Show">
        {(Object.keys(TABS) as Tab[]).map((one) => (
          <button
            key={one}
            type="button"
            class="ghost"
            aria-pressed={isOpen && tab === one}
            onClick={() => setQuery({ tab: one }, { replace: true })}
          >
            {TABS[one]}
          </button>
        ))}
        {closed && (
          <a class="ghost" aria-label="Close the list" href={closed}>
            ✕
          </a>
        )}
      </div>
      {isOpen && (
        <div class="side-body" tabIndex={0} role="region" aria-label={TABS[tab]}>
          {tab === "chunks" && (
            <Chunks document={document} chunks={chunks} selected={props.selected} reload={props.reload} />
          )}
          {tab === "claims" && <Claims id={document.id} />}
          {tab === "versions" && <Versions document={document} />}
          {tab === "metadata" && <pre>{JSON.stringify({ ...document }, null, 2)}</pre>}
        </div>
      )}
    </aside>
  );
}
