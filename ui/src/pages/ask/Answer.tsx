import { Failed } from "../../components/States";
import { ask } from "../../state/ask";
import type { Turn } from "../../state/conversation";
import { unsupported } from "../../text/answer";
import { unstarred } from "../../text/format";
import { Actions } from "./Actions";
import { AnswerText } from "./AnswerText";
import { FromGraph, NothingFound } from "./Sources";
import { Changed, Stale } from "./Stale";

/** A question and its answer, the nth of the page. */
export function Answer({ turn, nth }: { turn: Turn; nth: number }) {
  return (
    <article class="turn" aria-busy={turn.state === "waiting" || turn.state === "streaming"}>
      <h2>{turn.question}</h2>
      {turn.answer?.isStale && <Stale turn={turn} />}
      {turn.changes && <Changed of={turn.changes} before={turn.answer?.refreshes ?? null} />}
      {turn.state === "waiting" ? (
        <p class="quiet" role="status">
          Reading the documents …
        </p>
      ) : (
        <AnswerText turn={turn} nth={nth} />
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
  const bare = unsupported(turn.response, turn.citations, turn.sources);
  if (bare.length === 0) return null;
  return (
    <p class="warning">
      <span aria-hidden="true">⚠ </span>No source for: {bare.map((one) => `“${one}”`).join(", ")}
    </p>
  );
}
