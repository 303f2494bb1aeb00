import { Needs } from "../../components/Needs";
import { Empty, Failed, Loading } from "../../components/States";
import { show, useConversation } from "../../state/asking";
import { asked, openError, opening, stored, turns } from "../../state/conversation";
import { href } from "../../state/router";
import { useSubject } from "../../state/shell";
import { Answer } from "./Answer";
import { Composer } from "./Composer";
import { Conversations } from "./Conversations";

/** Questions and answers; conversations at the left. */
export function Ask({ conversation, answer }: { conversation?: string; answer?: string }) {
  const list = useConversation(conversation ?? null, answer ?? null);
  useSubject(turns.value[0]?.question);
  const reopen = (): void => show(conversation ?? null, answer ?? null);
  return (
    <div class="ask">
      <h1 class="visually-hidden">Ask</h1>
      <Conversations />
      <section class="conversation" aria-label="Conversation">
        <div class="turns" ref={list} tabIndex={0} role="region" aria-label="Questions and answers">
          {openError.value && (
            <Failed
              error={openError.value}
              retry={reopen}
              away={{ what: answer ? "answer" : "conversation", to: href("/"), name: "New conversation" }}
            />
          )}
          {opening.value && <Loading lines={6} />}
          {!opening.value && !openError.value && turns.value.length === 0 && <Welcome />}
          {turns.value.map((turn, i) => (
            <Answer key={i} turn={turn} nth={i + 1} open={asked.value[i - stored.value.length]} />
          ))}
        </div>
        <Composer />
      </section>
    </div>
  );
}

function Welcome() {
  return (
    <Empty title="Ask your documents">
      <p>
        Each sentence of an answer is underlined by how well its source supports it. Click a sentence or a
        number to see the words on the page.
      </p>
      <ul class="legend">
        <li>
          <span class="sentence verbatim">verbatim</span> the source has these words
        </li>
        <li>
          <span class="sentence close">close</span> the source says the same
        </li>
        <li>
          <span class="sentence loose">loose</span> the source shares words with it, no more
        </li>
        <li>
          <span class="sentence none">none</span> no source says it
        </li>
      </ul>
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
