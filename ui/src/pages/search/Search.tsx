import { useEffect, useState } from "preact/hooks";
import { api, take, type Schemas } from "../../api/client";
import { Needs } from "../../components/Needs";
import { Empty, NoMatch, Show } from "../../components/States";
import { ofHit, places, show, shown } from "../../state/evidence";
import { useMainFocus } from "../../state/keyboard";
import { useResource } from "../../state/resource";
import { href, query, setQuery } from "../../state/router";
import { projectId } from "../../state/session";
import { count, unstarred } from "../../text/format";
import { HitCard } from "./Hit";

type Mode = "hybrid" | "vector" | "text";
const MODES: Record<Mode, string> = { hybrid: "Words and meaning", text: "Words", vector: "Meaning" };

const FILTERS = ["type", "since"];

/** Hits at first and for each step; the server gives at most 100 at once. */
const STEP = 30;
const MOST = 100;

/** Search: hits with both scores; a click shows the hit on its page. */
export default function Search() {
  const q = query.value.get("q") ?? "";
  const mode = (query.value.get("mode") ?? "hybrid") as Mode;
  const floor = query.value.get("floor") !== "off";
  const type = query.value.get("type") ?? "";
  const since = query.value.get("since") ?? "";
  const around = query.value.get("context") === "on";
  const limit = Math.min(Math.max(Number(query.value.get("n")) || STEP, 1), MOST);
  const found = useResource(
    async (signal) =>
      q === ""
        ? null
        : take(
            api.POST("/api/v1/search", {
              body: {
                projectId: projectId.value,
                query: q,
                mode,
                floor,
                limit,
                filters: { fileTypes: type ? [type] : [], created: since ? { from: since } : null },
                expand: around ? { positionalCount: 1, semanticChunkCount: 0, relatedObjectCount: 5 } : null,
              },
              signal,
            }),
          ),
    [projectId.value, q, mode, floor, type, since, around, limit],
  );
  return (
    <div class="page-body">
      <h1 class="visually-hidden">Search</h1>
      <SearchForm q={q} mode={mode} floor={floor} type={type} since={since} around={around} />
      {q === "" ? (
        <Empty title="Search the documents">
          <p>Words in quotes must occur as they are. Each hit shows its score by words and by meaning.</p>
        </Empty>
      ) : (
        <Show
          of={found}
          lines={10}
          empty={(data) => data?.items.length === 0 && <Nothing q={q} floor={floor} />}
        >
          {(data) => data && <Hits of={data} />}
        </Show>
      )}
    </div>
  );
}

function SearchForm(props: {
  q: string;
  mode: Mode;
  floor: boolean;
  type: string;
  since: string;
  around: boolean;
}) {
  const [text, setText] = useState(props.q);
  useEffect(() => setText(props.q), [props.q]); // the browser's buttons change it, too
  useMainFocus(props.q === "");
  return (
    <form
      class="search-form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ q: text.trim(), at: null, n: null });
      }}
    >
      <div class="row">
        <input
          class="grow"
          type="search"
          data-main-input
          aria-label="Search"
          placeholder="Search"
          maxLength={10000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Search
        </button>
      </div>
      <div class="row">
        <select
          aria-label="Search by"
          value={props.mode}
          onChange={(event) => setQuery({ mode: event.currentTarget.value })}
        >
          {(Object.keys(MODES) as Mode[]).map((one) => (
            <option key={one} value={one}>
              {MODES[one]}
            </option>
          ))}
        </select>
        <input
          class="short"
          aria-label="Type, such as pdf"
          placeholder="Type: pdf"
          value={props.type}
          onChange={(event) => setQuery({ type: event.currentTarget.value })}
        />
        <label class="check">
          Added since
          <input
            type="date"
            value={props.since}
            onChange={(event) => setQuery({ since: event.currentTarget.value })}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={props.floor}
            aria-describedby="floor-hint"
            onChange={(event) => setQuery({ floor: event.currentTarget.checked ? null : "off" })}
          />{" "}
          Relevance threshold
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={props.around}
            onChange={(event) => setQuery({ context: event.currentTarget.checked ? "on" : null })}
          />{" "}
          With context
        </label>
      </div>
      <p id="floor-hint" class="quiet">
        {props.floor
          ? "With the threshold nothing is shown if none of the ten best hits fits the question. If one does, the others are shown too."
          : "Without the threshold the nearest chunks are shown, however far they are."}
      </p>
    </form>
  );
}

function Nothing({ q, floor }: { q: string; floor: boolean }) {
  if (FILTERS.some((one) => query.value.get(one))) return <NoMatch what="chunk" names={FILTERS} />;
  if (!floor) return <NothingToSearch />;
  return (
    <Empty title="Nothing is relevant enough">
      <p>No chunk answers “{q}”.</p>
      <p>
        <button type="button" onClick={() => setQuery({ floor: "off" })}>
          Show what is nearest
        </button>
      </p>
    </Empty>
  );
}

function Hits({ of }: { of: Schemas["SearchAnswer"] }) {
  const list = of.items.map(ofHit);
  if (shown.value && places.value.length === 0) places.value = list;
  const best = Math.max(...of.items.map((hit) => hit.scores.text ?? 0));
  return (
    <>
      <p class="quiet" role="status">
        {count(of.pagination.total, "hit")}
      </p>
      {of.notes.map((note) => (
        <p key={note} class="note">
          {unstarred(note)}
        </p>
      ))}
      <ol class="hits">
        {of.items.map((hit, i) => (
          <li key={hit.chunk.id} class={shown.value?.chunkId === hit.chunk.id ? "on" : ""}>
            <HitCard hit={hit} best={best} open={() => show(list[i] ?? ofHit(hit), list)} />
          </li>
        ))}
      </ol>
      {of.items.length < Math.min(of.pagination.total, MOST) && (
        <p>
          <button type="button" onClick={() => setQuery({ n: of.items.length + STEP }, { replace: true })}>
            Show more hits
          </button>
        </p>
      )}
    </>
  );
}

function NothingToSearch() {
  return (
    <Empty title="There is nothing to search yet">
      <Needs>
        <p>
          <a class="button" href={href("/documents")}>
            Add documents
          </a>
        </p>
      </Needs>
    </Empty>
  );
}
