import { useState } from "preact/hooks";
import { EvidenceFile } from "../../components/EvidenceFile";
import { Failed } from "../../components/States";
import { ask, rate, refresh, type Turn } from "../../state/ask";
import { useAction } from "../../state/resource";
import { href } from "../../state/router";
import { footnoted, sentences } from "../../text/answer";
import { duration, unstarred } from "../../text/format";
import { AnswerText } from "./AnswerText";

const GRAPH = "LightRAG Answer";

/** A question and its answer. */
export function Answer({ turn }: { turn: Turn }) {
  return (
    <article class="turn" aria-busy={turn.state === "waiting" || turn.state === "streaming"}>
      <h2>{turn.question}</h2>
      {turn.answer?.isStale && <Stale turn={turn} />}
      {turn.state === "waiting" ? (
        <p class="quiet" role="status">
          Reading the documents …
        </p>
      ) : (
        <AnswerText turn={turn} />
      )}
      {turn.state === "done" && <Unsupported turn={turn} />}
      {turn.notes.map((note) => (
        <p key={note} class="note">
          {unstarred(note)}
        </p>
      ))}
      {turn.state === "broken" && turn.error && (
        <Failed error={turn.error} retry={() => void ask(turn.question)} />
      )}
      {turn.state === "done" && turn.sources.length === 0 && <NothingFound question={turn.question} />}
      {turn.state === "done" && <FromGraph turn={turn} />}
      {turn.state === "done" && <Actions turn={turn} />}
    </article>
  );
}

function Unsupported({ turn }: { turn: Turn }) {
  const points = [...turn.response];
  const bare = sentences(turn.citations).filter((one) => one.level === "none" && turn.sources.length > 0);
  if (bare.length === 0) return null;
  return (
    <p class="warning">
      <span aria-hidden="true">⚠ </span>No source for:{" "}
      {bare
        .map(
          (one) =>
            `“${points
              .slice(one.start, one.end)
              .join("")
              .replace(/\s*\[[0-9a-f-]{36}\]/g, "")}”`,
        )
        .join(", ")}
    </p>
  );
}

function NothingFound({ question }: { question: string }) {
  return (
    <p>
      <a href={href("/search", { q: question, floor: "off" })}>See what is nearest</a> or{" "}
      <a href={href("/documents")}>add documents</a>.
    </p>
  );
}

/** What the graph gave to the answer. */
function FromGraph({ turn }: { turn: Turn }) {
  const source = turn.sources.find((one) => one.source === GRAPH);
  if (!source) return null;
  return (
    <details class="from-graph">
      <summary>From the knowledge graph</summary>
      <pre>{source.chunkText}</pre>
      <a href={href("/graph")}>Open the graph</a>
    </details>
  );
}

function Stale({ turn }: { turn: Turn }) {
  const again = useAction(async () => turn.answer && refresh(turn.answer));
  return (
    <div class="stale">
      <p>
        <strong>The sources have changed since this answer.</strong>
      </p>
      <ul>
        {turn.answer?.staleReasons.map((one, i) => (
          <li key={i}>
            {one.documentName} was {one.reason}
            {one.quoteStillThere
              ? "; the quote still stands."
              : `: “${one.oldText}” ${one.newText ? `is now “${one.newText}”` : "is gone"}.`}
          </li>
        ))}
      </ul>
      <button type="button" disabled={again.busy} onClick={() => void again.run()}>
        {again.busy ? "Answering …" : "Answer again"}
      </button>
      {again.error && <Failed error={again.error} />}
    </div>
  );
}

function Actions({ turn }: { turn: Turn }) {
  const [copied, setCopied] = useState(false);
  const rating = turn.answer?.feedback?.rating;
  const vote = useAction(
    async (given: "up" | "down") => turn.answer && rate(turn.answer, given === rating ? null : given),
  );
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(footnoted(turn.response, turn.citations, turn.sources));
    setCopied(true);
  };
  return (
    <footer class="actions">
      <button type="button" class="ghost" onClick={() => void copy()}>
        {copied ? "Copied" : "Copy with footnotes"}
      </button>
      {turn.answer && (
        <>
          <EvidenceFile of="answers" id={turn.answer.id} />
          <a href={href(`/a/${turn.answer.id}`)} class="ghost">
            Link
          </a>
          <button
            type="button"
            class="ghost"
            aria-pressed={rating === "up"}

            onClick={() => void vote.run("up")}
          >
            Helpful
          </button>
          <button
            type="button"
            class="ghost"
            aria-pressed={rating === "down"}

            onClick={() => void vote.run("down")}
          >
            Not helpful
          </button>
          <span class="quiet">
            {turn.answer.model === "extractive" ? "quoted, without a model" : turn.answer.model} ·{" "}
            {duration(turn.answer.totalDuration)}
          </span>
        </>
      )}
      {vote.error && <Failed error={vote.error} />}
    </footer>
  );
}
