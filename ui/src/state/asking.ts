import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { recoverAll } from "./ask";
import { arrived, asked, open, openAnswer, turns } from "./conversation";
import { loadConversations } from "./conversations";
import { focusMain, useMainFocus } from "./keyboard";
import { go, href, path, section } from "./router";
import { projectId } from "./session";
import { unfinished } from "./unfinished";

/** Pixels from the end of the page within which the page follows a growing answer. */
const NEAR = 4;

/** Whether the question is gone to from another page. */
let isAsking = false;

/** Where the menu leads: to an answer that came, or is coming, while the reader is elsewhere; else to a new conversation. */
export function askAddress(): string {
  if (section(path.value) === "/") return href("/");
  const open = unfinished.value.findLast((one) => one.project === projectId.value && !one.isNew);
  const conversation = arrived.value ?? open?.thread;
  return href(conversation ? `/c/${conversation}` : "/");
}

/** Goes to the question, from every page. */
export function goAsk(): void {
  if (section(path.value) === "/") focusMain();
  else {
    isAsking = true;
    go(askAddress());
  }
}

/** The box takes the keyboard when the page comes up for a question, and for a new conversation where no keyboard is drawn. */
export function useQuestionFocus(): void {
  const isNew = path.value === "/" && matchMedia("(pointer: fine)").matches;
  useMainFocus(isAsking || isNew);
  isAsking = false;
}

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

/**
 * Shows the conversation or the answer of the address. A question that begins comes into view; then the page follows the
 * answer for as long as the reader stays at the end.
 */
export function useConversation(
  conversation: string | null,
  answer: string | null,
): RefObject<HTMLDivElement | null> {
  const list = useRef<HTMLDivElement>(null);
  const follows = useRef(false);
  const project = projectId.value;
  // Before anything can be asked: opening empties the page.
  useLayoutEffect(() => show(conversation, answer), [conversation, answer]);
  useEffect(() => {
    recoverAll();
    void loadConversations();
  }, [project]);
  useEffect(() => {
    const look = (): void => {
      const box = list.current;
      if (box) follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    };
    list.current?.addEventListener("scroll", look, { passive: true });
    return () => list.current?.removeEventListener("scroll", look);
  }, []);
  const unanswered = asked.value.length;
  useLayoutEffect(() => {
    if (unanswered) follows.current = true;
  }, [unanswered]);
  const shown = turns.value;
  useLayoutEffect(() => {
    const box = list.current;
    if (box && follows.current) box.scrollTop = box.scrollHeight;
  }, [shown]);
  return list;
}
