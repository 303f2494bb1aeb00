import { useState } from "preact/hooks";
import { Needs } from "../../components/Needs";
import { Cell, Rows } from "../../components/Rows";
import { Empty, NoMatch, Show, unfiltered } from "../../components/States";
import { useGraph, useNeighbours, useObjects, type Drawing } from "../../state/graph";
import { go, href, query, setQuery, withQuery } from "../../state/router";
import { useTyped } from "../../state/typed";
import { colourOf } from "../../state/canvas";
import { count, value } from "../../text/format";
import { Canvas } from "./Canvas";
import { Issues } from "./Issues";
import { ObjectPanel } from "./ObjectPanel";

const VIEWS = { picture: "Picture", table: "Table", issues: "Conflicts" };

/** The knowledge graph: as a picture or a table; the selected object at the right. */
export default function GraphPage({ id }: { id?: string }) {
  const found = useGraph();
  const [shows, setShows] = useState(0);
  const named = query.value.get("view") ?? "";
  const view = named in VIEWS ? named : "picture";
  const reload = (): void => {
    found.reload();
    setShows(shows + 1);
  };
  return (
    <div class={`graph-page${id ? " with-object" : ""}`}>
      <div class="graph-bar">
        <h1 class="visually-hidden">Graph</h1>
        <Bar view={view} types={found.data?.types ?? {}} />
      </div>
      <section class="graph-main" aria-label="Graph">
        {view === "issues" && <Issues />}
        {view === "table" && <Table turn={shows} id={id ?? null} />}
        {view === "picture" && (
          <Show of={found} lines={12} empty={(whole) => whole.nodes.length === 0 && <Nothing />}>
            {(whole) => <Picture whole={whole} id={id ?? null} />}
          </Show>
        )}
      </section>
      {id && <ObjectPanel key={`${id} ${shows}`} id={id} changed={reload} />}
    </div>
  );
}

function Bar({ view, types }: { view: string; types: Record<string, number> }) {
  const q = query.value.get("q") ?? "";
  const [text, setText] = useTyped(q);
  const names = Object.keys(types);
  const type = query.value.get("type");
  return (
    <>
      <form
        class="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ q: text.trim() });
        }}
      >
        <input
          type="search"
          data-main-input
          aria-label="Name of an object"
          placeholder="Name of an object"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <span class="row tabs" role="group" aria-label="View">
          {Object.entries(VIEWS).map(([one, name]) => (
            <button
              key={one}
              type="button"
              class="ghost"
              aria-pressed={view === one}
              onClick={() => setQuery({ view: one === "picture" ? null : one })}
            >
              {name}
            </button>
          ))}
        </span>
      </form>
      <div class="row types" role="group" aria-label="Types">
        {names.map((one) => (
          <button
            key={one}
            type="button"
            class="ghost"
            aria-pressed={type === one}
            onClick={() => setQuery({ type: type === one ? null : one })}
          >
            <svg width="10" height="10" aria-hidden="true">
              <circle cx="5" cy="5" r="5" fill={colourOf(one, names)} />
            </svg>
            {one} {types[one]}
          </button>
        ))}
      </div>
    </>
  );
}

function Picture({ whole, id }: { whole: Drawing; id: string | null }) {
  const { nodes, edges } = useNeighbours(whole, id);
  return (
    <>
      <Canvas
        nodes={nodes}
        edges={edges}
        types={Object.keys(whole.types)}
        selected={id}
        choose={(one) => go(withQuery({ at: null }, `/o/${one}`))}
      />
      <p class="graph-count quiet">
        {count(nodes.length, "object")}, {count(edges.length, "relationship")}
        {whole.total > whole.nodes.length &&
          ` of ${whole.total.toLocaleString("en")}: search or choose a type to see others`}
      </p>
    </>
  );
}

const FILTERS = ["q", "type"];
const HEADS = [{ name: "Name" }, { name: "Type" }, { name: "Properties", class: "wide" }];

/** Reads its rows again when `turn` changes. */
function Table({ turn, id }: { turn: number; id: string | null }) {
  const list = useObjects(turn);
  return (
    <Rows
      of={list}
      label="Objects"
      heads={HEADS}
      columns="minmax(0, 1fr) 8.75rem minmax(0, 1.4fr)"
      narrow="minmax(0, 1fr) 7.5rem"
      keyOf={(one) => one.id}
      isShown={(one) => one.id === id}
      away={unfiltered(FILTERS)}
      empty={<Nothing />}
      row={(one) => (
        <>
          <Cell class="name">
            <a href={withQuery({ at: null }, `/o/${one.id}`)}>{one.name}</a>
          </Cell>
          <Cell>{one.type}</Cell>
          <Cell class="wide name">
            <span class="quiet">
              {Object.entries(one.properties)
                .map(([key, given]) => `${key}: ${value(given)}`)
                .join(" · ")}
            </span>
          </Cell>
        </>
      )}
    />
  );
}

function Nothing() {
  if (FILTERS.some((one) => query.value.get(one))) return <NoMatch what="object" names={FILTERS} />;
  return (
    <Empty title="No objects">
      <p>Objects, their properties and relationships are extracted from the chunks as the schema says.</p>
      <Needs>
        <p>
          <a class="button" href={href("/schema")}>
            Extract with the schema
          </a>
        </p>
      </Needs>
    </Empty>
  );
}
