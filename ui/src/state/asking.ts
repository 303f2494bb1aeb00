import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { loadConversations, open, openAnswer, turns } from "./ask";
import { projectId } from "./session";

/** Shows the conversation or the answer of the address, and keeps the end of a growing answer in view. */
export function useConversation(
  conversation: string | null,
  answer: string | null,
): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null);
  const project = projectId.value;
  useEffect(() => void (answer ? openAnswer(answer) : open(conversation)), [conversation, answer]);
  useEffect(() => void loadConversations(), [project]);
  const last = turns.value.at(-1);
  const started = last && last.state !== "done" ? turns.value.length : 0;
  useEffect(() => {
    if (started) end.current?.scrollIntoView({ block: "end" });
  }, [started]);
  return end;
}
