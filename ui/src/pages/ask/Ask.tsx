import { useState } from "preact/hooks";
import { Confirm } from "../../components/Confirm";
import { Needs } from "../../components/Needs";
import { Empty, Failed, Loading } from "../../components/States";
import { ask, draft, stop } from "../../state/ask";
import { show, useConversation, useDrawer } from "../../state/asking";
import { conversationId, openError, opening, turns } from "../../state/conversation";
import {
  conversations,
  conversationsError,
  forget,
  loadConversations,
  loadOlder,
  moreConversations,
} from "../../state/conversations";
import { href } from "../../state/router";
import { may } from "../../state/session";
import { count } from "../../text/format";
import { Answer } from "./Answer";

/** Questions and answers; conversations at the left. */
export function Ask({ conversation, answer }: { conversation?: string; answer?: string }) {
  const end = useConversation(conversation ?? null, answer ?? null);
  const reopen = (): void => show(conversation ?? null, answer ?? null);
  return (
    <div class="ask">
      <h1 class="visually-hidden">Ask</h1>
      <Conversations />
      <section class="conversation" aria-label="Conversation">
        <div class="turns">
          {openError.value && (
            <Failed
              error={openError.value}
              retry={reopen}
              away={{ to: href("/"), name: "New conversation" }}
            />
          )}
          {opening.value && <Loading lines={6} />}
          {!opening.value && !openError.value && turns.value.length === 0 && <Welcome />}
          {turns.value.map((turn, i) => (
            <Answer key={i} turn={turn} nth={i + 1} />
          ))}
          <div ref={end} />
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

function Composer() {
  const busy = turns.value.some((one) => one.state === "waiting" || one.state === "streaming");
  const send = (): void => {
    const question = draft.value.trim();
    if (question && !busy) void ask(question);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="visually-hidden" for="question">
        Your question
      </label>
      <textarea
        id="question"
        data-main-input
        rows={1}
        maxLength={10000}
        placeholder="Ask a question"
        value={draft.value}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {busy ? (
        <button type="button" onClick={stop}>
          Stop
        </button>
      ) : (
        <button type="submit" class="primary" disabled={!draft.value.trim()}>
          Ask
        </button>
      )}
    </form>
  );
}

function Conversations() {
  const list = conversations.value;
  const [dying, setDying] = useState<string | null>(null);
  const drawer = useDrawer();
  return (
    <details ref={drawer} class="conversations" open={matchMedia("(min-width: 1100px)").matches}>
      <summary>Conversations</summary>
      <div class="drawer">
        <a class="button" href={href("/")}>
          New conversation
        </a>
        {conversationsError.value && (
          <Failed error={conversationsError.value} retry={() => void loadConversations()} />
        )}
        {!list && !conversationsError.value && <Loading lines={3} />}
        {list?.length === 0 && <p class="quiet">Your questions appear here.</p>}
        <ul>
          {list?.map((one) => (
            <li key={one.id} class={one.id === conversationId.value ? "on" : ""}>
              <a
                href={href(`/c/${one.id}`)}
                aria-current={one.id === conversationId.value ? "page" : undefined}
              >
                <span class="title" title={one.title ?? undefined}>
                  {one.title ?? "Untitled"}
                </span>
                {one.staleCount > 0 && <span class="badge">{count(one.staleCount, "stale answer")}</span>}
              </a>
              {(one.isOwn || may("write")) && (
                <button
                  type="button"
                  class="ghost"
                  aria-label={`Delete ${one.title ?? "this conversation"}`}
                  onClick={() => setDying(one.id)}
                >
                  ✕
                </button>
              )}
            </li>
          ))}
        </ul>
        {moreConversations.value && (
          <button type="button" class="ghost" onClick={() => void loadOlder()}>
            Show older ones
          </button>
        )}
        {dying && (
          <Confirm
            title="Delete this conversation?"
            verb="Delete"
            act={() => forget(dying)}
            onClose={() => setDying(null)}
          >
            <p>Its questions and answers go with it. It cannot be undone.</p>
          </Confirm>
        )}
      </div>
    </details>
  );
}
