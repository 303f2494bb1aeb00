import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, asError, raw, take, type Document, type Schemas } from "../api/client";
import { usePaged, type Paged } from "./paged";
import { watch } from "./progress";
import { query } from "./router";
import { project, projectId } from "./session";

type Ingested = Schemas["Ingested"];
/** How a document is cut; no strategy: as its project does, else by paragraphs. */
export type Cutting = {
  chunkingStrategy: "" | "character" | "sentence" | "paragraph";
  maxChunkSize: number;
  minChunkSize: number;
};
export const USUAL: Cutting = { chunkingStrategy: "", maxChunkSize: 1200, minChunkSize: 100 };

/** How new documents are cut; kept while the tab is open. */
export const cutting = signal<Cutting>(USUAL);
/** What was sent and could not be kept, and what is under way. */
export const sending = signal<{ files: number; done: number } | null>(null);
export const refusals = signal<readonly { name: string; reason: string }[]>([]);

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

const BATCH = 20;

/** Sends files, some at a time. */
export async function upload(files: readonly File[], done: () => void): Promise<void> {
  refusals.value = [];
  sending.value = { files: files.length, done: 0 };
  for (let first = 0; first < files.length; first += BATCH) {
    const part = files.slice(first, first + BATCH);
    const form = new FormData();
    form.set("projectId", projectId.value);
    setCuts(form);
    for (const file of part) form.append("file", file, file.webkitRelativePath || file.name);
    try {
      const answer = (await (await raw("/api/v1/ingest/upload", { method: "POST", body: form })).json()) as {
        data: { items: Ingested[] };
      };
      refuse(
        answer.data.items.flatMap((one) =>
          one.error ? [{ name: one.fileName, reason: one.error.message }] : [],
        ),
      );
    } catch (error) {
      refuse(part.map((file) => ({ name: file.name, reason: asError(error).message })));
    }
    sending.value = { files: files.length, done: first + part.length };
    done();
  }
  sending.value = null;
}

/** The cuts as fields of a request: those chosen here, else the project's own, else paragraphs. */
function cuts(): {
  chunkingStrategy: "character" | "sentence" | "paragraph";
  chunkingOptions: Partial<Omit<Cutting, "chunkingStrategy">>;
} {
  const { chunkingStrategy, ...chunkingOptions } = cutting.value;
  if (chunkingStrategy) return { chunkingStrategy, chunkingOptions };
  const own = project.value?.config.chunking;
  return {
    chunkingStrategy: own?.strategy ?? "paragraph",
    chunkingOptions: {
      maxChunkSize: own?.maxChunkSize ?? undefined,
      minChunkSize: own?.minChunkSize ?? undefined,
    },
  };
}

function setCuts(form: FormData): void {
  const { chunkingStrategy, chunkingOptions } = cuts();
  form.set("chunkingStrategy", chunkingStrategy);
  form.set("chunkingOptions", JSON.stringify(chunkingOptions));
}

function refuse(more: { name: string; reason: string }[]): void {
  if (more.length) refusals.value = [...refusals.value, ...more];
}

export async function addUrl(url: string): Promise<void> {
  await take(
    api.POST("/api/v1/ingest/url", {
      body: { url, projectId: projectId.value, ...cuts() },
    }),
  );
}

export async function addText(name: string, text: string): Promise<void> {
  await take(
    api.POST("/api/v1/ingest/text", {
      body: {
        text,
        name: name || null,
        projectId: projectId.value,
        ...cuts(),
      },
    }),
  );
}

export async function preview(given: { file?: File; text?: string }): Promise<Schemas["PreviewAnswer"]> {
  if (!given.file) {
    return take(
      api.POST("/api/v1/chunking/preview", {
        body: { text: given.text ?? "", ...cuts() },
      }),
    );
  }
  const form = new FormData();
  form.set("file", given.file);
  setCuts(form);
  const answer = (await (await raw("/api/v1/chunking/preview", { method: "POST", body: form })).json()) as {
    data: Schemas["PreviewAnswer"];
  };
  return answer.data;
}

export async function newVersion(id: string, file: File): Promise<void> {
  const form = new FormData();
  form.set("file", file);
  await raw(`/api/v1/documents/${id}`, { method: "PUT", body: form });
}

export async function remove(id: string): Promise<void> {
  await take(api.DELETE("/api/v1/documents/{document_id}", { params: { path: { document_id: id } } }));
}

export async function retry(jobId: string): Promise<void> {
  await take(api.POST("/api/v1/jobs/{job_id}/retry", { params: { path: { job_id: jobId } } }));
}

/** Whether files hang over the page, and what to do when they fall. */
export function useDrop(take: (files: File[]) => void, allowed: boolean): boolean {
  const [over, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    if (!allowed) return;
    const stop = new AbortController();
    const on = (name: "dragover" | "dragleave" | "drop", act: (event: DragEvent) => void): void =>
      addEventListener(name, act, { signal: stop.signal });
    on("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    });
    on("dragleave", (event) => event.relatedTarget === null && setOver(false));
    on("drop", (event) => {
      event.preventDefault();
      setOver(false);
      if (event.dataTransfer)
        void filesOf(event.dataTransfer).then((files) => files.length && latest.current(files));
    });
    return () => stop.abort();
  }, [allowed]);
  return over;
}

/** Files and the files of folders, whatever was dropped. */
async function filesOf(dropped: DataTransfer): Promise<File[]> {
  const entries = [...dropped.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const found = await Promise.all(entries.map(filesIn));
  return entries.length ? found.flat() : [...dropped.files];
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile)
    return [
      await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject)),
    ];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const inside: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) break;
    inside.push(...some);
  }
  return (await Promise.all(inside.map(filesIn))).flat();
}
