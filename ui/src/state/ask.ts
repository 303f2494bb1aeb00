import { batch, signal } from "@preact/signals";
import { ApiError, api, asError, take, type Citation, type Schemas, type Source } from "../api/client";
import { events } from "../api/events";
import { places } from "./evidence";
import { go, href, path, setQuery } from "./router";
import { projectId } from "./session";

/** A question with its answer, or as much of it as has come. */
export interface Turn {
  question: string;
  response: string;
  sources: Source[];
  citations: Citation[];
  notes: string[];
  state: "waiting" | "streaming" | "done" | "broken";
  error: ApiError | null;
  answer: Answer | null;
  /** What answered; null until that is known. */
  model: string | null;
  /** What differs from the answer before, if it was just answered again. */
  changes?: Schemas["AnswerChanges"];
}

export type Answer = Schemas["AnswerModel"];
export type Feedback = Schemas["FeedbackRequest"];
type Done = Schemas["ChatAnswer"];

const DRAFT = "whence.question";

type Conversation = Schemas["ConversationModel"];
const AT_ONCE = 50;
let wanted = AT_ONCE;
export const conversations = signal<Conversation[] | null>(null);
/** Whether there are older ones than in the list. */
export const moreConversations = signal(false);
export const conversationsError = signal<ApiError | null>(null);
/** The conversation on the page; null for a new one. */
export const conversationId = signal<string | null>(null);
export const turns = signal<readonly Turn[]>([]);
export const opening = signal(false);
export const openError = signal<ApiError | null>(null);
/** The question as typed; kept in the tab so that a reload loses nothing. */
export const draft = signal(sessionStorage.getItem(DRAFT) ?? "");
/** Counts the questions that began and the answers that ended here, so that the page follows them. */
export const moved = signal(0);
let running: AbortController | null = null;
/** Whether one answer is shown without the rest of its conversation. */
let alone = false;
/** The page that asked. */
let asker = "";

draft.subscribe((text) => sessionStorage.setItem(DRAFT, text));

export async function loadConversations(): Promise<void> {
  const project = projectId.value;
  try {
    const found: Conversation[] = [];
    let isMore = true;
    while (isMore && found.length < wanted) {
      const params = { query: { project_id: project, limit: AT_ONCE, offset: found.length } };
      const page = await take(api.GET("/api/v1/conversations", { params }));
      if (project !== projectId.value) return; // the list of the project before came late
      found.push(...page.items);
      isMore = page.pagination.has_more;
    }
    batch(() => {
      conversations.value = found;
      moreConversations.value = isMore;
      conversationsError.value = null;
    });
  } catch (error) {
    if (project === projectId.value) conversationsError.value = asError(error);
  }
}

/** Reads conversations that are older than those in the list, too. */
export async function loadOlder(): Promise<void> {
  wanted += AT_ONCE;
  await loadConversations();
}

function ofAnswer(answer: Answer): Turn {
  const { question, response, sources, citations, notes, model } = answer;
  return { question, response, sources, citations, notes, state: "done", error: null, answer, model };
}

/** Shows a stored conversation, or with null a new one. */
export async function open(id: string | null): Promise<void> {
  const there = id === null ? turns.value.length === 0 : turns.value.length > 0;
  if (id === conversationId.value && there && !alone) return;
  running?.abort();
  alone = false;
  batch(() => {
    moved.value = 0;
    conversationId.value = id;
    turns.value = [];
    openError.value = null;
    opening.value = id !== null;
  });
  if (id === null) return;
  try {
    const found = await take(
      api.GET("/api/v1/conversations/{conversation_id}", { params: { path: { conversation_id: id } } }),
    );
    if (conversationId.value !== id) return;
    turns.value = found.messages.flatMap((one) => (one.answer ? [ofAnswer(one.answer)] : []));
    follow(found.projectId, `/c/${id}`);
  } catch (error) {
    openError.value = asError(error);
  } finally {
    opening.value = false;
  }
}

/** Shows one answer alone: `/a/<answer>`. */
export async function openAnswer(id: string): Promise<void> {
  running?.abort();
  opening.value = true;
  openError.value = null;
  try {
    const answer = await read(id);
    batch(() => {
      conversationId.value = answer.conversationId;
      turns.value = [ofAnswer(answer)];
      moved.value = 0;
    });
    alone = true;
    follow(answer.projectId, `/a/${id}`);
  } catch (error) {
    openError.value = asError(error);
  } finally {
    opening.value = false;
  }
}

/** A link may lead to another project's conversation: the page follows it. */
function follow(project: string, page: string): void {
  if (path.value === page && project !== projectId.value) setQuery({ project }, { replace: true });
}

function change(part: Partial<Turn>): void {
  const last = turns.value.at(-1);
  if (last) turns.value = [...turns.value.slice(0, -1), { ...last, ...part }];
}

/** Asks, and shows the answer as it comes. A broken stream keeps what came. */
export async function ask(question: string): Promise<void> {
  running?.abort();
  const abort = (running = new AbortController());
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
      signal: abort.signal,
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
    if (!abort.signal.aborted) change({ state: "broken", error: asError(error) });
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
  const answer = await read(answerId).catch(() => null);
  if (answer && conversationId.value === conversation) change({ answer });
}

export function stop(): void {
  running?.abort();
  change({ state: "broken", error: new ApiError(0, "STOPPED", "You stopped the answer.") });
}

/** Keeps what the reader says of an answer; null takes it back. */
export async function rate(answer: Answer, feedback: Feedback | null): Promise<void> {
  const params = { path: { answer_id: answer.id } };
  replace(
    feedback
      ? await take(api.POST("/api/v1/answers/{answer_id}/feedback", { params, body: feedback }))
      : await take(api.DELETE("/api/v1/answers/{answer_id}/feedback", { params })),
  );
}

/** Answers a stale question again. */
export async function refresh(answer: Answer): Promise<void> {
  const params = { path: { answer_id: answer.id } };
  const found = await take(api.POST("/api/v1/answers/{answer_id}/refresh", { params }));
  replace(found.answer, answer.id, found.changes);
  void loadConversations();
}

function replace(answer: Answer, was = answer.id, changes?: Turn["changes"]): void {
  turns.value = turns.value.map((one) =>
    one.answer?.id === was ? { ...ofAnswer(answer), changes: changes ?? one.changes } : one,
  );
}

export async function forget(id: string): Promise<void> {
  await take(
    api.DELETE("/api/v1/conversations/{conversation_id}", { params: { path: { conversation_id: id } } }),
  );
  if (id === conversationId.value) go(href("/"));
  await loadConversations();
}

function read(id: string): Promise<Answer> {
  return take(api.GET("/api/v1/answers/{answer_id}", { params: { path: { answer_id: id } } }));
}
