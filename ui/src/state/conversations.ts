import { batch, signal } from "@preact/signals";
import { api, asError, take, type ApiError, type Schemas } from "../api/client";
import { conversationId, ofAnswer, type Turn } from "./conversation";
import { go, href } from "./router";
import { projectId } from "./session";
import { beginThread, freshThread, openIn, putAway, type Unfinished } from "./unfinished";

type Conversation = Schemas["ConversationModel"];
const AT_ONCE = 50;
let wanted = AT_ONCE;
export const conversations = signal<Conversation[] | null>(null);
/** Whether there are older ones than in the list. */
export const moreConversations = signal(false);
export const conversationsError = signal<ApiError | null>(null);

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

export async function forget(id: string): Promise<void> {
  await take(
    api.DELETE("/api/v1/conversations/{conversation_id}", { params: { path: { conversation_id: id } } }),
  );
  for (const one of openIn(id)) putAway(one.id);
  if (id === conversationId.value) go(href("/"));
  await loadConversations();
}

/** Leaves what is asked in the new conversation to its own place in the list, and begins another. */
export function beginAnother(): void {
  if (openIn(freshThread.value).length) beginThread();
}

/** The stored answer to a question whose answer did not arrive, with its conversation; null if there is none. */
export async function findStored(
  one: Unfinished,
): Promise<{ conversation: string; turns: readonly Turn[] } | null> {
  const { before } = one;
  if (before === null) return null;
  if (!one.isNew) return answered(one.thread, one.turn.question, before);
  const params = { query: { project_id: one.project, limit: 10 } };
  const { items } = await take(api.GET("/api/v1/conversations", { params }));
  for (const { id } of items.filter((other) => !before.includes(other.id))) {
    const found = await answered(id, one.turn.question, []);
    if (found) return found;
  }
  return null;
}

/** The conversation, if its last answer is to this question and was not there before. */
async function answered(
  conversation: string,
  question: string,
  before: readonly string[],
): Promise<{ conversation: string; turns: readonly Turn[] } | null> {
  const params = { path: { conversation_id: conversation } };
  const found = await take(api.GET("/api/v1/conversations/{conversation_id}", { params }));
  const turns = found.messages.flatMap((one) => (one.answer ? [ofAnswer(one.answer)] : []));
  const last = turns.at(-1);
  const isIt = last?.question === question && !before.includes(last.answerId ?? "");
  return isIt ? { conversation, turns } : null;
}
