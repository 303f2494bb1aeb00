import { batch, signal } from "@preact/signals";
import { api, asError, take, type ApiError, type Schemas } from "../api/client";
import { conversationId } from "./conversation";
import { go, href } from "./router";
import { projectId } from "./session";

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
  if (id === conversationId.value) go(href("/"));
  await loadConversations();
}
