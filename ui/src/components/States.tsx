import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/client";
import type { Page } from "../state/paged";
import type { Resource } from "../state/resource";
import { withQuery } from "../state/router";

/** A resource in its four states: loading, empty, failed, there. */
export function Show<T>(props: {
  of: Resource<T>;
  lines?: number;
  /** Instead of lines, where what comes has another form. */
  skeleton?: ComponentChildren;
  empty?: (data: T) => ComponentChildren | false;
  away?: Away;
  children: (data: T) => ComponentChildren;
}) {
  const { data, error, reload } = props.of;
  if (error && data === null) return <Failed error={error} retry={reload} away={props.away} />;
  if (data === null) return <>{props.skeleton ?? <Loading lines={props.lines} />}</>;
  const nothing = props.empty?.(data);
  return (
    <>
      {error && <Failed error={error} retry={reload} />}
      {nothing || props.children(data)}
    </>
  );
}

/** Bones of the size of what comes; `page` has the margins of a whole page. */
export function Loading({ lines = 4, page = false }: { lines?: number; page?: boolean }) {
  return (
    <div class={page ? "loading page-body" : "loading"} role="status">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} class="bone" />
      ))}
    </div>
  );
}

/** That a list is longer than what is shown of it. */
export function Cut({ of }: { of: Page<unknown> }) {
  const { items, pagination } = of;
  if (items.length >= pagination.total) return null;
  return (
    <p class="quiet">
      The first {items.length} of {pagination.total.toLocaleString("en")}.
    </p>
  );
}

/** What is empty, and the one thing that fills it. */
export function Empty({
  title,
  first,
  children,
}: {
  title: string;
  first?: boolean;
  children?: ComponentChildren;
}) {
  const Heading = first ? "h1" : "h2";
  return (
    <div class="empty">
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}

/** The way on from filters of the address that nothing passes, or that do not exist. */
export function unfiltered(names: readonly string[]): Away {
  return { to: withQuery(Object.fromEntries(names.map((one) => [one, null]))), name: "Clear the filters" };
}

/** Nothing passes the filters of the address, and the button that clears them. */
export function NoMatch({ what, names }: { what: string; names: readonly string[] }) {
  const { to, name } = unfiltered(names);
  return (
    <Empty title={`No ${what} matches`}>
      <p>
        <a class="button" href={to}>
          {name}
        </a>
      </p>
    </Empty>
  );
}

/** Where to go on from something that does not exist. */
export interface Away {
  to: string;
  name: string;
  /** What does not exist, where the address names it by its id. */
  what?: string;
}
/** What the same request gives again, whenever it is sent: asked for wrongly, forbidden, absent. */
const LASTING = [400, 403, 404];

/** What failed, its code and request id, and a way to try again; from what does not exist, the way to what does. */
export function Failed({ error, retry, away }: { error: ApiError; retry?: () => void; away?: Away }) {
  const lasts = LASTING.includes(error.status);
  const isAbsent = error.status === 404 || error.code === "INVALID_UUID";
  return (
    <div class="failed" role="alert">
      <p>
        {isAbsent && away?.what
          ? `There is no such ${away.what}: it was deleted, or the address is wrong.`
          : error.message}
      </p>
      <p class="quiet">
        {error.code}
        {error.requestId && <> · request {error.requestId}</>}
      </p>
      {lasts && away && (
        <a class="button" href={away.to}>
          {away.name}
        </a>
      )}
      {retry && !lasts && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
