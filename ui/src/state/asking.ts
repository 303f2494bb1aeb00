import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { moved, open, openAnswer } from "./conversation";
import { loadConversations } from "./conversations";
import { path } from "./router";
import { projectId } from "./session";

/** Shows an answer alone, a conversation, or with neither a new one. */
export function show(conversation: string | null, answer: string | null): void {
  void (answer ? openAnswer(answer) : open(conversation));
}

/** The list of conversations lies over a small page: choosing one and Esc close it. */
export function useDrawer(): RefObject<HTMLDetailsElement | null> {
  const drawer = useRef<HTMLDetailsElement>(null);
  const here = path.value;
  useEffect(() => {
    if (!drawer.current?.open || !matchMedia("(max-width: 1099px)").matches) return;
    drawer.current.open = false;
  }, [here]);
  useEffect(() => {
    const shut = (event: KeyboardEvent): void => {
      const isOver = event.key === "Escape" && matchMedia("(max-width: 599px)").matches;
      if (isOver && drawer.current && !document.querySelector("dialog[open]")) drawer.current.open = false;
    };
    document.addEventListener("keydown", shut);
    return () => document.removeEventListener("keydown", shut);
  }, []);
  return drawer;
}

/** Shows the conversation or the answer of the address, and keeps the end of a growing answer in view. */
export function useConversation(
  conversation: string | null,
  answer: string | null,
): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null);
  const project = projectId.value;
  // Before anything can be asked: opening empties the page.
  useLayoutEffect(() => show(conversation, answer), [conversation, answer]);
  useEffect(() => void loadConversations(), [project]);
  const steps = moved.value;
  useEffect(() => {
    if (steps) end.current?.scrollIntoView({ block: "end" });
  }, [steps]);
  return end;
}
