import { batch, signal } from "@preact/signals";
import { api, asError, take, type ApiError, type Citation, type Schemas, type Source } from "../api/client";
import { path, setQuery } from "./router";
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

/** The conversation on the page; null for a new one. */
export const conversationId = signal<string | null>(null);
export const turns = signal<readonly Turn[]>([]);
export const opening = signal(false);
export const openError = signal<ApiError | null>(null);
/** Counts the questions that began and the answers that ended here, so that the page follows them. */
export const moved = signal(0);
/** The request whose answer is coming. */
let running = new AbortController();
/** Whether one answer is shown without the rest of its conversation. */
let alone = false;

/** Stops the answer that is coming; the next one stops by the signal. */
export function interrupt(): AbortSignal {
  running.abort();
  running = new AbortController();
  return running.signal;
}

export function ofAnswer(answer: Answer): Turn {
  const { question, response, sources, citations, notes, model } = answer;
  return { question, response, sources, citations, notes, state: "done", error: null, answer, model };
}

/** Shows a stored conversation, or with null a new one. */
export async function open(id: string | null): Promise<void> {
  const there = id === null ? turns.value.length === 0 : turns.value.length > 0;
  if (id === conversationId.value && there && !alone) return;
  interrupt();
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
  interrupt();
  opening.value = true;
  openError.value = null;
  try {
    const answer = await readAnswer(id);
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

/** Changes the last turn. */
export function change(part: Partial<Turn>): void {
  const last = turns.value.at(-1);
  if (last) turns.value = [...turns.value.slice(0, -1), { ...last, ...part }];
}

export function readAnswer(id: string): Promise<Answer> {
  return take(api.GET("/api/v1/answers/{answer_id}", { params: { path: { answer_id: id } } }));
}
