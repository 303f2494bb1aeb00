import type { Schemas } from "../../api/client";
import { Failed } from "../../components/States";
import { refresh } from "../../state/answers";
import type { Turn } from "../../state/conversation";
import { useAction } from "../../state/resource";
import { href } from "../../state/router";
import { unmarked } from "../../text/answer";
import { plain } from "../../text/markdown";

/** Why an answer is stale, and the button that answers again. */
export function Stale({ turn }: { turn: Turn }) {
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
              : `: “${one.oldText}” ${one.newText ? `is now “${one.newText}”` : "is gone"}`}
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

/** What differs from the answer before. */
export function Changed({ of, before }: { of: Schemas["AnswerChanges"]; before: string | null }) {
  return (
    <section class="changed" aria-label="What changed" role="status">
      <p>
        <strong>
          {of.responseChanged
            ? "Answered again. What changed:"
            : "Answered again. The text is the same as before."}
        </strong>
      </p>
      {of.responseChanged && (
        <p class="changed-text">
          {of.diff.map((part, i) => {
            const text = plain(unmarked(part.text));
            if (part.op === "added") return <ins key={i}>{text} </ins>;
            return part.op === "removed" ? <del key={i}>{text} </del> : <span key={i}>{text} </span>;
          })}
        </p>
      )}
      <Quotes name="New quote" all={of.quotesAdded} />
      <Quotes name="No longer quoted" all={of.quotesRemoved} />
      {before && <a href={href(`/a/${before}`)}>See the answer before</a>}
    </section>
  );
}

function Quotes({ name, all }: { name: string; all: Schemas["ChangedQuote"][] }) {
  return (
    <>
      {all.map((one, i) => (
        <p key={i} class="quiet">
          {name}: “{one.quote}”
        </p>
      ))}
    </>
  );
}
