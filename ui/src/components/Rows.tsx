import type { ComponentChildren } from "preact";
import type { Paged } from "../state/paged";
import { query, setQuery } from "../state/router";
import { scaled } from "../state/screen";
import { useRows } from "../state/viewport";
import { Failed, type Away } from "./States";

/** Rows of the skeleton, before the number is known. */
const BONES = 10;

/** A long table: only the rows in view exist, only their pages are read. */
export function Rows<T>(props: {
  of: Paged<T>;
  label: string;
  heads: { name: string; class?: string; sort?: string }[];
  columns: string;
  /** The columns on a small screen, where those of the class `wide` are hidden. */
  narrow?: string;
  height?: number;
  empty: ComponentChildren;
  /** From filters that do not exist. */
  away: Away;
  row: (item: T) => ComponentChildren;
  keyOf: (item: T) => string;
  /** Whether the pane beside the table shows the item. */
  isShown?: (item: T) => boolean;
  /** What a click on a row does, beside its links and buttons. */
  pick?: (item: T) => void;
}) {
  const { of } = props;
  const height = scaled(props.height ?? 48);
  const { ref, from, to } = useRows(of.total ?? 0, height);
  if (of.error && of.total === null) return <Failed error={of.error} retry={of.reload} away={props.away} />;
  if (of.total === 0) return <>{props.empty}</>;
  const isLoading = of.total === null;
  const total = of.total ?? BONES;
  if (!isLoading) of.need(from, Math.max(from, to - 1));
  const [first, end] = isLoading ? [0, BONES] : [from, to];
  const shown = Array.from({ length: end - first }, (_, i) => first + i);
  return (
    <>
      {of.error && <Failed error={of.error} retry={of.reload} />}
      <div
        class={isLoading ? "rows loading" : "rows"}
        role="table"
        aria-busy={isLoading}
        aria-label={props.label}
        aria-rowcount={of.total === null ? -1 : of.total + 1}
        style={{ "--columns": props.columns, "--narrow": props.narrow ?? "minmax(0, 1fr) 5.25rem 5rem" }}
      >
        <div role="rowgroup">
          <div class="rows-head" role="row">
            {props.heads.map((head) => (
              <Head key={head.name} {...head} />
            ))}
          </div>
        </div>
        <div ref={ref} role="rowgroup" class="rows-body" style={{ height: `${total * height}px` }}>
          {shown.map((index) => {
            const item = of.at(index);
            return (
              <div
                key={item ? props.keyOf(item) : index}
                role="row"
                aria-rowindex={index + 2}
                class={`rows-row${item && props.isShown?.(item) ? " on" : ""}`}
                style={{ top: `${index * height}px`, height: `${height}px` }}
                onClick={(event) => {
                  if (item && !(event.target as Element).closest("a, button")) props.pick?.(item);
                }}
              >
                {item ? props.row(item) : <div role="cell" class="bone" />}
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

/** A column's head; a click sorts by it, another the other way round. The address keeps it. */
function Head({ name, class: of, sort }: { name: string; class?: string; sort?: string }) {
  if (!sort)
    return (
      <div role="columnheader" class={of}>
        {name}
      </div>
    );
  const now = query.value.get("sort");
  const way = now === sort ? "ascending" : now === `-${sort}` ? "descending" : undefined;
  return (
    <div role="columnheader" class={of} aria-sort={way ?? "none"}>
      <button
        type="button"
        class="ghost"
        onClick={() => setQuery({ sort: way === "ascending" ? `-${sort}` : way ? null : sort })}
      >
        {name}
        {way && <span aria-hidden="true">{way === "ascending" ? "↑" : "↓"}</span>}
      </button>
    </div>
  );
}

export function Cell({
  class: name,
  children,
  title,
}: {
  class?: string;
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <div role="cell" class={name} title={title}>
      {children}
    </div>
  );
}

/** The second line of a name: why it failed, and on a small screen, which has no column for it, its kind. */
export function Under({ kind, reason }: { kind: string; reason?: string | null }) {
  return (
    <span class={`quiet under${reason ? " reason" : ""}`} title={reason ?? undefined}>
      <span class="kind">
        {kind}
        {reason && ": "}
      </span>
      {reason}
    </span>
  );
}
