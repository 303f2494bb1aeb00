import { batch, signal } from "@preact/signals";
import { ApiError, asError, type Citation, type Schemas, type Source } from "../api/client";
import { events } from "../api/events";
import { arrived, change, conversationId, readAnswer, stored, thread, type Turn } from "./conversation";
import { conversations, findStored, loadConversations } from "./conversations";
import { places } from "./evidence";
import { focusMain } from "./keyboard";
import { go, href, path, section, withQuery } from "./router";
import { projectId } from "./session";
import {
  amend,
  beginThread,
  freshThread,
  isRunning,
  put,
  putAway,
  rename,
  storedAs,
  unfinished,
  type Unfinished,
} from "./unfinished";

type Done = Schemas["ChatAnswer"];

const DRAFT = "whence.question";
const ASKED: Omit<Turn, "question"> = {
  response: "",
  sources: [],
  citations: [],
  notes: [],
  state: "waiting",
  error: null,
  answer: null,
  answerId: null,
  model: null,
};

/** The question as typed; kept in the tab so that a reload loses nothing. */
export const draft = signal(sessionStorage.getItem(DRAFT) ?? "");
/** The requests under way, by their questions. */
const running = new Map<string, AbortController>();

draft.subscribe((text) => sessionStorage.setItem(DRAFT, text));

/** Asks in the conversation on the page. The answer goes on coming wherever the reader goes. */
export async function ask(question: string): Promise<void> {
  const conversation = conversationId.value;
  const before = conversation
    ? stored.value.flatMap((one) => one.answerId ?? [])
    : (conversations.value?.map((one) => one.id) ?? null);
  const one: Unfinished = {
    id: `${Date.now()}-${unfinished.value.length}`,
    project: projectId.value,
    thread: conversation ?? freshThread.value,
    isNew: conversation === null,
    before,
    turn: { ...ASKED, question },
  };
  batch(() => {
    draft.value = "";
    places.value = [];
    put(one);
  });
  // An answer that is shown alone has the rest of its conversation before it.
  if (conversation && path.value !== `/c/${conversation}`) go(href(`/c/${conversation}`));
  await send(one);
}

/** Shows the answer if it was stored although it did not arrive; else asks the question once more. */
export async function askAgain(one: Unfinished): Promise<void> {
  amend(one.id, { ...ASKED });
  if (!(await recover(one))) await send(one);
}

/** Puts a question back into the box, before what is being typed there. */
export function edit(one: Unfinished): void {
  putAway(one.id);
  draft.value = [one.turn.question, draft.value].filter((text) => text).join("\n");
  focusMain();
}

export function stop(one: Unfinished): void {
  running.get(one.id)?.abort();
  amend(one.id, { state: "broken", error: new ApiError(0, "STOPPED", "You stopped the answer.") });
}

async function send(one: Unfinished): Promise<void> {
  const abort = new AbortController();
  running.set(one.id, abort);
  const into = one.isNew ? { store: true } : { conversationId: one.thread };
  const body = { projectId: one.project, message: one.turn.question, stream: true, ...into };
  const init = {
    method: "POST",
    body: JSON.stringify(body),
    signal: abort.signal,
    headers: { "Content-Type": "application/json" },
  };
  const hears = hearing(one);
  let broken: ApiError | null = new ApiError(
    0,
    "STREAM_BROKEN",
    "The connection broke before the answer was complete.",
  );
  try {
    for await (const event of events("/api/v1/chat", init)) if (hears(event.name, event.data)) broken = null;
  } catch (error) {
    broken &&= asError(error);
  }
  running.delete(one.id);
  if (broken && !abort.signal.aborted) amend(one.id, { state: "broken", error: broken });
  if (one.project === projectId.value) void loadConversations();
}

/** Takes in the events of one stream; true when the answer is complete or has failed. */
function hearing(one: Unfinished): (name: string, data: unknown) => boolean {
  let response = "";
  let answerId = "";
  return (name, data) => {
    if (name === "sources") {
      const { sources, model } = data as { sources: Source[]; model: string };
      amend(one.id, { sources, model });
    }
    if (name === "token") {
      response += (data as { text: string }).text;
      amend(one.id, { state: "streaming", response });
    }
    if (name === "verified") change(answerId, { citations: (data as { citations: Citation[] }).citations });
    if (name === "error") {
      const error = (data as { error: { code: string; message: string } }).error;
      amend(one.id, { state: "broken", error: new ApiError(0, error.code, error.message) });
    }
    if (name === "done") {
      const done = data as Done;
      answerId = done.answerId ?? "";
      finish(one, done);
    }
    return name === "done" || name === "error";
  };
}

/** The answer is stored: it takes the place of its question. */
function finish(one: Unfinished, done: Done): void {
  const { response, sources, citations, notes, model, answerId, conversationId: conversation } = done;
  if (!conversation || !answerId) return;
  const { question } = one.turn;
  const turn: Turn = { ...ASKED, question, response, sources, citations, notes, model, answerId };
  batch(() => {
    const shows = isShown(one);
    settle(one, conversation);
    if (!shows) return;
    stored.value = [...stored.value, { ...turn, state: "done" }];
  });
  // As it was stored: for feedback, the evidence file, and whether it is stale.
  readAnswer(answerId).then(
    (answer) => change(answerId, { answer }),
    () => undefined, // it is shown as it came
  );
}

/** Whether its conversation is the one that Ask shows, now or when the reader returns to it. */
function isShown(one: Unfinished): boolean {
  return thread.value === one.thread && projectId.value === one.project;
}

/** Where a new conversation is on the page, its address follows; else the page finds it when the reader returns. */
function settle(one: Unfinished, conversation: string): void {
  const shows = isShown(one);
  const isSeen = shows && section(path.value) === "/";
  putAway(one.id);
  if (!isSeen && one.project === projectId.value) arrived.value = conversation;
  if (!one.isNew) return;
  rename(one.thread, conversation);
  if (shows) conversationId.value = conversation;
  if (isSeen) {
    beginThread();
    go(withQuery({}, `/c/${conversation}`), { replace: true }); // evidence that is open stays open
  } else storedAs.value = new Map(storedAs.value).set(one.thread, conversation);
}

/** Whether the server has the answer: the connection may have broken after it was stored. Then it is shown. */
async function recover(one: Unfinished): Promise<boolean> {
  const found = await findStored(one).catch(() => null);
  if (!found) return false;
  if (isShown(one)) stored.value = found.turns;
  settle(one, found.conversation);
  return true;
}

/** Looks for the answers of questions that were under way when the page was loaded anew. */
export function recoverAll(): void {
  for (const one of unfinished.value)
    if (!isRunning(one) && one.project === projectId.value) void recover(one);
}
