import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { asError, type ApiError } from "../api/client";

/** Something that is read from the server: what came last, and what is under way. */
export interface Resource<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  reload: () => void;
}

/**
 * Reads something when `deps` change. What came before stays until the new comes, so that nothing jumps;
 * `fresh` drops it instead, for another thing altogether.
 */
export function useResource<T>(
  load: (abort: AbortSignal) => Promise<T>,
  deps: readonly unknown[],
  { fresh = false, every = 0 }: { fresh?: boolean; every?: number } = {},
): Resource<T> {
  const [state, setState] = useState<Omit<Resource<T>, "reload">>({ data: null, error: null, loading: true });
  const [turn, setTurn] = useState(0);
  const seen = useRef<string>("");
  const name = JSON.stringify(deps);

  useEffect(() => {
    const abort = new AbortController();
    const another = seen.current !== name;
    seen.current = name;
    setState((was) => ({ data: another && fresh ? null : was.data, error: null, loading: true }));
    let timer = 0;
    const again = (): void => {
      if (every > 0 && !abort.signal.aborted) timer = setTimeout(() => setTurn((n) => n + 1), every);
    };
    void load(abort.signal)
      .then(
        (data) => !abort.signal.aborted && setState({ data, error: null, loading: false }),
        (error: unknown) =>
          !abort.signal.aborted &&
          setState((was) => ({ data: was.data, error: asError(error), loading: false })),
      )
      .finally(again);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [name, turn, every]);

  const reload = useCallback(() => setTurn((n) => n + 1), []);
  return { ...state, reload };
}

/** Calls `act` and keeps whether it runs and how it failed: for buttons. */
export function useAction<A extends unknown[]>(
  act: (...given: A) => Promise<unknown>,
): { run: (...given: A) => Promise<boolean>; busy: boolean; error: ApiError | null } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async (...given: A): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      await act(...given);
      return true;
    } catch (failed) {
      setError(asError(failed));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { run, busy, error };
}
