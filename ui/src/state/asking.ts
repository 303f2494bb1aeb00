import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { loadConversations, moved, open, openAnswer } from "./ask";
import { projectId } from "./session";

/** Shows the conversation or the answer of the address, and keeps the end of a growing answer in view. */
export function useConversation(
  conversation: string | null,
  answer: string | null,
): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null);
  const project = projectId.value;
  // Before anything can be asked: opening empties the page.
  useLayoutEffect(() => void (answer ? openAnswer(answer) : open(conversation)), [conversation, answer]);
  useEffect(() => void loadConversations(), [project]);
  const steps = moved.value;
  useEffect(() => {
    if (steps) end.current?.scrollIntoView({ block: "end" });
  }, [steps]);
  return end;
}
