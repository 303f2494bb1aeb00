import { Fragment } from "preact";
import { Failed } from "../../components/States";
import { askAgain, edit } from "../../state/ask";
import { asked, type Turn } from "../../state/conversation";
import { isRunning, type Unfinished } from "../../state/unfinished";
import { unsupported } from "../../text/answer";
import { unstarred } from "../../text/format";
import { Actions } from "./Actions";
import { AnswerText } from "./AnswerText";
import { FromGraph, NothingFound } from "./Sources";
import { Changed, Stale } from "./Stale";

/** A question and its answer, the nth of the page; `open` while it is not answered. */
export function Answer({ turn, nth, open }: { turn: Turn; nth: number; open?: Unfinished }) {
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
      {open && turn.state === "broken" && <Broken one={open} />}
      {turn.state === "done" && turn.sources.length === 0 && <NothingFound question={turn.question} />}
      {turn.state === "done" && <FromGraph turn={turn} />}
      {turn.state === "done" && <Actions turn={turn} />}
    </article>
  );
}

/** Why there is no answer, and what can be done. */
function Broken({ one }: { one: Unfinished }) {
  const { error, response } = one.turn;
  return (
    <>
      {error && <Failed error={error} />}
      {response && (
        <p class="quiet">
          What came is kept above, unchecked. Asking again shows the stored answer if there is one; if not, it
          begins a new answer.
        </p>
      )}
      <div class="row">
        <button type="button" disabled={asked.value.some(isRunning)} onClick={() => void askAgain(one)}>
          Ask again
        </button>
        <button type="button" class="ghost" onClick={() => edit(one)}>
          Edit the question
        </button>
      </div>
    </>
  );
}

function Unsupported({ turn }: { turn: Turn }) {
  const bare = unsupported(turn.response, turn.citations, turn.sources);
  if (bare.length === 0) return null;
  return (
    <p class="warning">
      <span aria-hidden="true">⚠ </span>No source for:{" "}
      {bare.map((one, i) => (
        <Fragment key={i}>
          {i > 0 && ", "}“<bdi>{one}</bdi>”
        </Fragment>
      ))}
    </p>
  );
}
