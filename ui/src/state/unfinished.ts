import { computed, signal } from "@preact/signals";
import { ApiError } from "../api/client";
import type { Turn } from "./conversation";
import { projectId } from "./session";

/** A question whose answer is under way or did not come. It is kept in the tab until it is answered or put away. */
export interface Unfinished {
  id: string;
  project: string;
  /** The conversation, or the name of one that is not stored yet. */
  thread: string;
  isNew: boolean;
  /** The answers of the conversation, or the newest conversations, when it was asked; null: not known. */
  before: readonly string[] | null;
  turn: Turn;
}

const KEPT = "whence.unfinished";
const RELOADED = "The page was loaded anew before the answer was complete.";

function newName(): string {
  return `new-${Date.now().toString(36)}`;
}

function nameOf(thread: string): string {
  return thread.split("@")[0] ?? "";
}

export const unfinished = signal<readonly Unfinished[]>(read());
/** Names the conversation at `/`, which is stored with its first answer. */
const fresh = signal(nameOf(unfinished.value.findLast((one) => one.isNew)?.thread ?? newName()));
export const freshThread = computed(() => `${fresh.value}@${projectId.value}`);

/** Begins another conversation at `/`, or goes back to one that is not stored yet. */
export function beginThread(thread?: string): void {
  fresh.value = thread ? nameOf(thread) : newName();
}
/** Conversations that were stored while the reader was elsewhere, by the name that they had. */
export const storedAs = signal<ReadonlyMap<string, string>>(new Map());

export function isRunning({ turn }: Pick<Unfinished, "turn">): boolean {
  return turn.state === "waiting" || turn.state === "streaming";
}

/** The questions of a conversation that are not answered yet. */
export function openIn(thread: string): readonly Unfinished[] {
  return unfinished.value.filter((one) => one.thread === thread);
}

export function put(one: Unfinished): void {
  unfinished.value = [...unfinished.value, one];
  keep();
}

export function putAway(id: string): void {
  unfinished.value = unfinished.value.filter((one) => one.id !== id);
  keep();
}

/** Changes the turn of a question. What comes word by word is kept when the page goes away. */
export function amend(id: string, part: Partial<Turn>): void {
  unfinished.value = unfinished.value.map((one) =>
    one.id === id ? { ...one, turn: { ...one.turn, ...part } } : one,
  );
  if (part.state !== "streaming") keep();
}

/** The conversation of questions that were asked in a new one is stored now. */
export function rename(thread: string, stored: string): void {
  unfinished.value = unfinished.value.map((one) =>
    one.thread === thread ? { ...one, thread: stored, isNew: false, before: null } : one,
  );
  keep();
}

function keep(): void {
  const plain = unfinished.value.map((one) => {
    const { error } = one.turn;
    return { ...one, turn: { ...one.turn, error: error && { ...error, message: error.message } } };
  });
  sessionStorage.setItem(KEPT, JSON.stringify(plain));
}

addEventListener("pagehide", keep);

/** What was kept before the page was loaded anew: nothing is under way any more. */
function read(): Unfinished[] {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]") as Unfinished[];
  return kept.map((one) => {
    const { status, code, message, details, requestId } = one.turn.error ?? {
      ...new ApiError(0, "RELOADED", ""),
      message: RELOADED,
    };
    const error = new ApiError(status, code, message, details, requestId);
    return { ...one, turn: { ...one.turn, state: "broken", error } };
  });
}
