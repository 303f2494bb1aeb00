import { Needs } from "../../components/Needs";
import { Show } from "../../components/States";
import type { Turn } from "../../state/conversation";
import { ofHit, show } from "../../state/evidence";
import { useNamedObjects } from "../../state/graph";
import { href } from "../../state/router";
import { useNearest } from "../../state/search";

const GRAPH = "LightRAG Answer";

/** What is nearest to a question that nothing answers. */
export function NothingFound({ question }: { question: string }) {
  const found = useNearest(question);
  return (
    <section class="near" aria-label="What is near">
      <Show of={found} lines={3} empty={(data) => data.items.length === 0 && <NoDocuments />}>
        {(data) => (
          <>
            <p class="quiet">No document answers it. The nearest chunks:</p>
            <ul class="hits">
              {data.items.map((hit) => (
                <li key={hit.chunk.id}>
                  <button type="button" class="plain" onClick={() => show(ofHit(hit), data.items.map(ofHit))}>
                    <strong>{hit.document.name}</strong>
                    <span class="excerpt">{hit.chunk.content.slice(0, 160)}</span>
                  </button>
                </li>
              ))}
            </ul>
            <p>
              <a href={href("/search", { q: question, floor: "off" })}>See what is nearest</a>
              <Needs>
                {" "}
                or <a href={href("/documents")}>add documents</a>
              </Needs>
            </p>
          </>
        )}
      </Show>
    </section>
  );
}

function NoDocuments() {
  return (
    <p>
      There is nothing to read yet.{" "}
      <Needs>
        <a href={href("/documents")}>Add documents</a>
      </Needs>
    </p>
  );
}

/** What the graph gave to the answer: its facts, and the objects they are about. */
export function FromGraph({ turn }: { turn: Turn }) {
  const source = turn.sources.find((one) => one.source === GRAPH);
  return source ? <Facts turn={turn} text={source.chunkText} /> : null;
}

function Facts({ turn, text }: { turn: Turn; text: string }) {
  const chunks = turn.sources.flatMap((one) => one.id ?? []);
  const objects = useNamedObjects(chunks, text);
  return (
    <details class="from-graph">
      <summary>From the knowledge graph</summary>
      <Show
        of={objects}
        lines={1}
        empty={(all) => all.length === 0 && <p class="quiet">No object is named.</p>}
      >
        {(all) => (
          <p class="row">
            {all.map((one) => (
              <a key={one.id} class="badge" href={href(`/o/${one.id}`)}>
                {one.name}
              </a>
            ))}
          </p>
        )}
      </Show>
      <pre>{text}</pre>
      <a href={href("/graph")}>Open the graph</a>
    </details>
  );
}
