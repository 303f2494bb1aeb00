import { useState } from "preact/hooks";
import { Bin } from "../../components/Bin";
import { Confirm } from "../../components/Confirm";
import { Failed, Loading } from "../../components/States";
import { useDrawer } from "../../state/asking";
import { conversationId, thread } from "../../state/conversation";
import {
  beginAnother,
  conversations,
  conversationsError,
  forget,
  loadConversations,
  loadOlder,
  moreConversations,
} from "../../state/conversations";
import { focusMain } from "../../state/keyboard";
import { href } from "../../state/router";
import { may, projectId } from "../../state/session";
import { beginThread, isRunning, openIn, unfinished, type Unfinished } from "../../state/unfinished";
import { count } from "../../text/format";

/** The project's conversations, those that are not stored yet first. */
export function Conversations() {
  const list = conversations.value;
  const [dying, setDying] = useState<string | null>(null);
  const drawer = useDrawer();
  const unstored = unfinished.value.filter((one) => one.isNew && one.project === projectId.value);
  return (
    <details ref={drawer} class="conversations" open={matchMedia("(min-width: 1100px)").matches}>
      <summary>Conversations</summary>
      <div class="drawer">
        <a
          class="button"
          href={href("/")}
          onClick={() => {
            beginAnother();
            focusMain();
          }}
        >
          New conversation
        </a>
        {conversationsError.value && (
          <Failed error={conversationsError.value} retry={() => void loadConversations()} />
        )}
        {!list && !conversationsError.value && <Loading lines={3} />}
        {list?.length === 0 && unstored.length === 0 && <p class="quiet">Your questions appear here.</p>}
        <ul>
          {unstored.map((one) => (
            <Entry key={one.thread} one={one} />
          ))}
          {list?.map((one) => (
            <li key={one.id} class={one.id === conversationId.value ? "on" : ""}>
              <a
                href={href(`/c/${one.id}`)}
                aria-current={one.id === conversationId.value ? "page" : undefined}
              >
                <span class="title" title={one.title ?? undefined}>
                  {one.title ?? "Untitled"}
                </span>
                <Unanswered thread={one.id} />
                {one.staleCount > 0 && <span class="badge">{count(one.staleCount, "stale answer")}</span>}
              </a>
              {(one.isOwn || may("write")) && (
                <button
                  type="button"
                  class="ghost"
                  title="Delete"
                  aria-label={`Delete ${one.title ?? "this conversation"}`}
                  onClick={() => setDying(one.id)}
                >
                  <Bin />
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

/** A conversation that is stored with its first answer. */
function Entry({ one }: { one: Unfinished }) {
  const isHere = one.thread === thread.value;
  return (
    <li class={isHere ? "on" : ""}>
      <a href={href("/")} aria-current={isHere ? "page" : undefined} onClick={() => beginThread(one.thread)}>
        <span class="title">{one.turn.question}</span>
        <Unanswered thread={one.thread} />
      </a>
    </li>
  );
}

function Unanswered({ thread: of }: { thread: string }) {
  const open = openIn(of);
  if (open.length === 0) return null;
  return <span class="badge">{open.some(isRunning) ? "answering" : "not answered"}</span>;
}
