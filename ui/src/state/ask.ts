import { batch, signal } from "@preact/signals";
import { ApiError, asError, type Citation, type Schemas, type Source } from "../api/client";
import { events } from "../api/events";
import { change, conversationId, interrupt, moved, readAnswer, turns, type Turn } from "./conversation";
import { loadConversations } from "./conversations";
import { places } from "./evidence";
import { go, href, path } from "./router";
import { projectId } from "./session";

type Done = Schemas["ChatAnswer"];

const DRAFT = "whence.question";

/** The question as typed; kept in the tab so that a reload loses nothing. */
export const draft = signal(sessionStorage.getItem(DRAFT) ?? "");
/** The page that asked. */
let asker = "";

draft.subscribe((text) => sessionStorage.setItem(DRAFT, text));

/** Asks, and shows the answer as it comes. A broken stream keeps what came. */
export async function ask(question: string): Promise<void> {
  const abort = interrupt();
  const id = conversationId.value;
  asker = path.value;
  const fresh: Turn = {
    question,
    response: "",
    sources: [],
    citations: [],
    notes: [],
    state: "waiting",
    error: null,
    answer: null,
    model: null,
  };
  turns.value = [...turns.value.filter((one) => one.state === "done"), fresh];
  moved.value += 1;
  places.value = [];
  draft.value = "";
  const stored = id ? { conversationId: id } : { store: true };
  const body = JSON.stringify({ projectId: projectId.value, message: question, stream: true, ...stored });
  try {
    const init = {
      method: "POST",
      body,
      signal: abort,
      headers: { "Content-Type": "application/json" },
    };
    let ended = false;
    for await (const event of events("/api/v1/chat", init)) ended = hear(event.name, event.data) || ended;
    if (!ended)
      change({
        state: "broken",
        error: new ApiError(0, "STREAM_BROKEN", "The connection broke before the answer was complete."),
      });
  } catch (error) {
    if (!abort.aborted) change({ state: "broken", error: asError(error) });
  }
  void loadConversations();
}

/** Takes in one event of the stream; true when the answer is complete or has failed. */
function hear(name: string, data: unknown): boolean {
  if (name === "sources") {
    const { sources, model } = data as { sources: Source[]; model: string };
    change({ sources, model });
  }
  if (name === "token")
    change({
      state: "streaming",
      response: (turns.value.at(-1)?.response ?? "") + (data as { text: string }).text,
    });
  if (name === "verified") change({ citations: (data as { citations: Citation[] }).citations });
  if (name === "error") {
    const error = (data as { error: { code: string; message: string } }).error;
    change({ state: "broken", error: new ApiError(0, error.code, error.message) });
  }
  if (name === "done") finish(data as Done);
  return name === "done" || name === "error";
}

function finish(done: Done): void {
  const { response, sources, citations, notes, model } = done;
  batch(() => {
    change({ state: "done", response, sources, citations, notes, model });
    moved.value += 1;
    if (done.conversationId && done.answerId) void keep(done.conversationId, done.answerId);
  });
}

/** The answer as it was stored: for feedback, the evidence file, and whether it is stale. */
async function keep(conversation: string, answerId: string): Promise<void> {
  conversationId.value = conversation;
  if (path.value === asker) go(href(`/c/${conversation}`), { replace: true });
  const answer = await readAnswer(answerId).catch(() => null);
  if (answer && conversationId.value === conversation) change({ answer });
}

export function stop(): void {
  interrupt();
  change({ state: "broken", error: new ApiError(0, "STOPPED", "You stopped the answer.") });
}
