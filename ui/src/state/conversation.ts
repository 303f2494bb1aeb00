import { batch, computed, signal } from "@preact/signals";
import { api, asError, take, type ApiError, type Citation, type Schemas, type Source } from "../api/client";
import { go, href, path, setQuery } from "./router";
import { projectId } from "./session";
import { beginThread, freshThread, openIn, storedAs } from "./unfinished";

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
  /** The stored answer, also before it is read again. */
  answerId: string | null;
  /** What answered; null until that is known. */
  model: string | null;
  /** What differs from the answer before, if it was just answered again. */
  changes?: Schemas["AnswerChanges"];
}

export type Answer = Schemas["AnswerModel"];

/** The conversation on the page; null for a new one. */
export const conversationId = signal<string | null>(null);
/** The stored answers on the page. */
export const stored = signal<readonly Turn[]>([]);
/** Whether one answer is shown without the rest of its conversation. */
const alone = signal(false);
/** The conversation on the page as a whole; null while one answer is shown alone. */
export const thread = computed(() => (alone.value ? null : (conversationId.value ?? freshThread.value)));
/** The questions of the conversation on the page that are not answered yet. */
export const asked = computed(() => (thread.value === null ? [] : openIn(thread.value)));
/** All that is on the page, in its order. */
export const turns = computed(() => [...stored.value, ...asked.value.map((one) => one.turn)]);
export const opening = signal(false);
export const openError = signal<ApiError | null>(null);
/** The conversation whose answer came while the reader was elsewhere. */
export const arrived = signal<string | null>(null);

export function ofAnswer(answer: Answer): Turn {
  const { id, question, response, sources, citations, notes, model } = answer;
  const found = { question, response, sources, citations, notes, answer, answerId: id, model };
  return { ...found, state: "done", error: null };
}

/** Shows a stored conversation, or with null a new one. */
export async function open(id: string | null): Promise<void> {
  const meanwhile = id === null ? storedAs.value.get(freshThread.value) : undefined;
  if (meanwhile) {
    go(href(`/c/${meanwhile}`), { replace: true });
    return;
  }
  if (arrived.value === id) arrived.value = null;
  if (id !== null && storedAs.value.get(freshThread.value) === id) beginThread();
  const isThere = id === conversationId.value && (id === null || stored.value.length > 0);
  if (isThere && !alone.value && !openError.value) return;
  batch(() => {
    alone.value = false;
    conversationId.value = id;
    stored.value = [];
    openError.value = null;
    opening.value = id !== null;
  });
  if (id !== null) await readConversation(id);
}

/** Reads the conversation on the page. */
async function readConversation(id: string): Promise<void> {
  try {
    const found = await take(
      api.GET("/api/v1/conversations/{conversation_id}", { params: { path: { conversation_id: id } } }),
    );
    if (conversationId.value !== id) return;
    stored.value = found.messages.flatMap((one) => (one.answer ? [ofAnswer(one.answer)] : []));
    follow(found.projectId, `/c/${id}`);
  } catch (error) {
    if (conversationId.value === id) openError.value = asError(error);
  } finally {
    if (conversationId.value === id) opening.value = false;
  }
}

/** Shows one answer alone: `/a/<answer>`. */
export async function openAnswer(id: string): Promise<void> {
  batch(() => {
    alone.value = true;
    stored.value = stored.value.filter((one) => one.answerId === id);
    openError.value = null;
    opening.value = stored.value.length === 0;
  });
  const isHere = (): boolean => path.value === `/a/${id}`;
  try {
    const answer = await readAnswer(id);
    if (!isHere()) return;
    batch(() => {
      conversationId.value = answer.conversationId;
      stored.value = [ofAnswer(answer)];
    });
    follow(answer.projectId, `/a/${id}`);
  } catch (error) {
    if (isHere()) openError.value = asError(error);
  } finally {
    if (isHere()) opening.value = false;
  }
}

/** A link may lead to another project's conversation: the page follows it. */
function follow(project: string, page: string): void {
  if (path.value === page && project !== projectId.value) setQuery({ project }, { replace: true });
}

/** Changes the turn of a stored answer. */
export function change(answerId: string, part: Partial<Turn>): void {
  stored.value = stored.value.map((one) => (one.answerId === answerId ? { ...one, ...part } : one));
}

export function readAnswer(id: string): Promise<Answer> {
  return take(api.GET("/api/v1/answers/{answer_id}", { params: { path: { answer_id: id } } }));
}
