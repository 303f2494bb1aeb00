import { api, take, type Schemas } from "../api/client";
import { ofAnswer, stored, type Answer, type Turn } from "./conversation";
import { loadConversations } from "./conversations";

export type Feedback = Schemas["FeedbackRequest"];

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
  stored.value = stored.value.map((one) =>
    one.answer?.id === was ? { ...ofAnswer(answer), changes: changes ?? one.changes } : one,
  );
}
