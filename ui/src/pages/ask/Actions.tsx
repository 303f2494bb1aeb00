import { useState } from "preact/hooks";
import { Copy } from "../../components/Copy";
import { EvidenceFile } from "../../components/EvidenceFile";
import { Failed } from "../../components/States";
import { rate } from "../../state/answers";
import type { Answer, Turn } from "../../state/conversation";
import { useAction } from "../../state/resource";
import { href } from "../../state/router";
import { footnoted, numbering } from "../../text/answer";
import { duration } from "../../text/format";

const VOTES = { up: "Helpful", down: "Not helpful" } as const;
type Vote = keyof typeof VOTES;

/** What can be done with an answer: copy, evidence file, link, feedback. */
export function Actions({ turn }: { turn: Turn }) {
  const { answer } = turn;
  const rating = answer?.feedback?.rating;
  const vote = useAction(
    async (given: Vote) => answer && rate(answer, given === rating ? null : { rating: given }),
  );
  return (
    <footer class="actions">
      <Copy
        verb="Copy with footnotes"
        class="ghost"
        text={() => footnoted(turn.response, turn.citations, turn.sources)}
      />
      {answer && (
        <>
          <EvidenceFile of="answers" id={answer.id} />
          <Copy
            verb="Copy the link"
            class="ghost"
            text={() => new URL(href(`/a/${answer.id}`), location.href).href}
          />
          {(Object.keys(VOTES) as Vote[]).map((one) => (
            <button
              key={one}
              type="button"
              class="ghost"
              aria-pressed={rating === one}
              onClick={() => void vote.run(one)}
            >
              {VOTES[one]}
            </button>
          ))}
          <span class="quiet">
            {answer.model === "extractive" ? "quoted, without a model" : answer.model} ·{" "}
            {duration(answer.totalDuration)}
          </span>
          {rating && <Feedback key={`${answer.id} ${rating}`} answer={answer} rating={rating} />}
        </>
      )}
      {vote.error && <Failed error={vote.error} />}
    </footer>
  );
}

/** What was good or wrong about an answer: a comment, and the citations that are wrong. */
function Feedback({ answer, rating }: { answer: Answer; rating: Vote }) {
  const given = answer.feedback;
  const [comment, setComment] = useState(given?.comment ?? "");
  const [wrong, setWrong] = useState<readonly number[]>(given?.wrongCitations ?? []);
  const [kept, setKept] = useState(false);
  const save = useAction(async () => {
    await rate(answer, { rating, comment: comment.trim() || null, wrongCitations: [...wrong] });
    setKept(true);
  });
  const numbers = numbering(answer.response, answer.citations);
  const cited = answer.citations.flatMap((one, i) => (one.chunkId === null ? [] : [{ one, i }]));
  return (
    <form
      class="feedback"
      aria-label="Feedback"
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <label class="field">
        <span>{rating === "up" ? "What was helpful?" : "What is wrong?"}</span>
        <textarea
          rows={2}
          maxLength={10000}
          value={comment}
          onInput={(event) => (setComment(event.currentTarget.value), setKept(false))}
        />
      </label>
      {rating === "down" && cited.length > 0 && (
        <fieldset>
          <legend>Wrong citations</legend>
          {cited.map(({ one, i }) => (
            <label key={i} class="check">
              <input
                type="checkbox"
                checked={wrong.includes(i)}
                onChange={(event) => {
                  const others = wrong.filter((n) => n !== i);
                  setWrong(event.currentTarget.checked ? [...others, i] : others);
                  setKept(false);
                }}
              />
              <span>
                {numbers.get(one.chunkId ?? "")}: {one.quote ? `“${one.quote}”` : "no quote"}
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <div class="row">
        <button type="submit" disabled={save.busy}>
          Send
        </button>
        {kept && (
          <span class="quiet" role="status">
            Kept. Thank you.
          </span>
        )}
      </div>
      {save.error && <Failed error={save.error} />}
    </form>
  );
}
