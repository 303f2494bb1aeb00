import type { Schemas } from "../../api/client";
import { Needs } from "../../components/Needs";
import { Empty, NoMatch, Show, unfiltered } from "../../components/States";
import { ofHit, show, shown, useNeighbours } from "../../state/evidence";
import { href, query, setQuery } from "../../state/router";
import { MOST, STEP, useHitPages, useHits, wantedHits } from "../../state/search";
import { useSubject } from "../../state/shell";
import { count, unstarred } from "../../text/format";
import { HitCard } from "./Hit";
import { SearchForm } from "./SearchForm";

const FILTERS = ["type", "since"];

/** Search: hits with both scores; a click shows the hit on its page. */
export default function Search() {
  const wanted = wantedHits();
  const { q, floor } = wanted;
  const found = useHits(wanted);
  useSubject(q);
  return (
    <div class="page-body">
      <h1 class="visually-hidden">Search</h1>
      <SearchForm of={wanted} />
      {q === "" ? (
        <Empty title="Search the documents">
          <p>Words in quotes must occur as they are. Each hit shows its score by words and by meaning.</p>
        </Empty>
      ) : (
        <Show
          of={found}
          lines={10}
          away={unfiltered([...FILTERS, "mode"])}
          empty={(data) => data?.items.length === 0 && <Nothing q={q} floor={floor} />}
        >
          {(data) => data && <Hits of={data} />}
        </Show>
      )}
    </div>
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
  useNeighbours(list);
  const pages = useHitPages(of.items, list);
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
            <HitCard
              hit={hit}
              page={pages[i] ?? null}
              best={best}
              open={() => show(list[i] ?? ofHit(hit), list)}
            />
          </li>
        ))}
      </ol>
      {of.items.length >= MOST && of.pagination.total > MOST && (
        <p class="quiet">The best {MOST} are shown; more words or a filter find others.</p>
      )}
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
