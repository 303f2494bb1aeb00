import { signal } from "@preact/signals";
import { api, asError, raw, take, type Schemas } from "../api/client";
import { useResource, type Resource } from "./resource";
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

async function preview(given: { file?: File; text?: string }): Promise<Schemas["PreviewAnswer"]> {
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

/** The chunks that a file or a text would be cut into; nothing is stored. */
export function useCuts(file: File | undefined, text: string): Resource<Schemas["PreviewAnswer"]> {
  return useResource(
    () => preview({ file, text }),
    [file?.name, file?.size, file?.lastModified, text, cutting.value],
    { fresh: true },
  );
}
