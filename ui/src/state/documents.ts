import { useEffect, useRef } from "preact/hooks";
import { api, raw, take, type Document, type Schemas } from "../api/client";
import { arrivals } from "./arrivals";
import { usePaged, type Paged } from "./paged";
import { watch } from "./progress";
import { useResource, type Resource } from "./resource";
import { query } from "./router";
import { projectId } from "./session";

/** The documents that the address asks for; those at work are followed. */
export function useDocuments(): Paged<Document> {
  const name = query.value.get("name") ?? undefined;
  const status = (query.value.get("status") ?? undefined) as Document["status"] & string;
  const type = query.value.get("type") ?? undefined;
  const sorted = query.value.get("sort") ?? "-created";
  const direction = sorted.startsWith("-") ? ("desc" as const) : ("asc" as const);
  const sort = sorted.replace("-", "") as "created" | "name" | "size" | "updated";
  const wanted = { project_id: projectId.value, name, status, file_type: type, sort, direction };
  const list = usePaged(
    (offset, limit, signal) =>
      take(api.GET("/api/v1/documents", { params: { query: { ...wanted, limit, offset } }, signal })),
    [wanted],
  );
  const added = arrivals.value;
  const seen = useRef(added);
  useEffect(() => {
    if (added !== seen.current) list.reload();
    seen.current = added;
  }, [added]);
  const open = list.loaded().filter((one) => one.status === "pending" || one.status === "processing");
  useEffect(() => {
    if (open.length === 0) return;
    watch(
      open.flatMap((one) => one.job_id ?? []),
      list.reload,
    );
    const timer = setTimeout(list.reload, 2500);
    return () => clearTimeout(timer);
  });
  return list;
}

export async function newVersion(id: string, file: File): Promise<void> {
  const form = new FormData();
  form.set("file", file);
  await raw(`/api/v1/documents/${id}`, { method: "PUT", body: form });
}

export async function remove(id: string): Promise<void> {
  await take(api.DELETE("/api/v1/documents/{document_id}", { params: { path: { document_id: id } } }));
}

/** What deleting a document takes along. */
export function useDeletionImpact(id: string): Resource<Schemas["DeletionImpact"]> {
  const params = { path: { document_id: id } };
  return useResource(
    (signal) => take(api.GET("/api/v1/documents/{document_id}/deletion-impact", { params, signal })),
    [id],
  );
}
