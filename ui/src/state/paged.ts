import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { asError, type ApiError } from "../api/client";

const SIZE = 100;

export interface Page<T> {
  items: T[];
  pagination: { total: number };
}
/** A long list of which only the pages in view are read. */
export interface Paged<T> {
  total: number | null;
  error: ApiError | null;
  at: (index: number) => T | undefined;
  /** Items that are loaded, in order. */
  loaded: () => T[];
  need: (from: number, to: number) => void;
  reload: () => void;
}

export function usePaged<T>(
  load: (offset: number, limit: number, abort: AbortSignal) => Promise<Page<T>>,
  deps: readonly unknown[],
): Paged<T> {
  const name = JSON.stringify(deps);
  const pages = useRef(new Map<number, T[]>());
  const asked = useRef(new Set<number>());
  const abort = useRef(new AbortController());
  const [state, setState] = useState<{ total: number | null; error: ApiError | null; turn: number }>({
    total: null,
    error: null,
    turn: 0,
  });

  const read = useCallback(
    (page: number, again = false): void => {
      if (asked.current.has(page) && !again) return;
      asked.current.add(page);
      const signal = abort.current.signal;
      load(page * SIZE, SIZE, signal).then(
        (found) => {
          if (signal.aborted) return;
          pages.current.set(page, found.items);
          setState((was) => ({ total: found.pagination.total, error: null, turn: was.turn + 1 }));
        },
        (error: unknown) => {
          asked.current.delete(page);
          if (!signal.aborted) setState((was) => ({ ...was, error: asError(error) }));
        },
      );
    },
    [name],
  );

  useEffect(() => {
    abort.current = new AbortController();
    pages.current = new Map();
    asked.current = new Set();
    setState((was) => ({ total: null, error: null, turn: was.turn + 1 }));
    read(0);
    return () => abort.current.abort();
  }, [name, read]);

  return {
    total: state.total,
    error: state.error,
    at: (index) => pages.current.get(Math.floor(index / SIZE))?.[index % SIZE],
    loaded: () => [...pages.current.entries()].sort(([a], [b]) => a - b).flatMap(([, items]) => items),
    need: (from, to) => {
      for (let page = Math.floor(from / SIZE); page <= Math.floor(to / SIZE); page += 1) read(page);
    },
    reload: () => {
      for (const page of asked.current.size ? [...asked.current] : [0]) read(page, true);
    },
  };
}
