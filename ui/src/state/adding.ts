import { computed, signal } from "@preact/signals";
import { api, asError, raw, take, type Schemas } from "../api/client";
import { arrive, refusals, sending, type Sending } from "./arrivals";
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

/** The lengths that a chunk may be given, in characters. */
export const LENGTHS = { maxChunkSize: [100, 10_000], minChunkSize: [10, 1000] } as const;

/** What is wrong with each length; nothing where the server will take them. */
export function wrongLengths(given: Cutting): Partial<Record<keyof typeof LENGTHS, string>> {
  const { chunkingStrategy, maxChunkSize, minChunkSize } = given;
  if (!chunkingStrategy) return {};
  const wrong = (name: keyof typeof LENGTHS): string | undefined => {
    const [least, most] = LENGTHS[name];
    const isIn = Number.isInteger(given[name]) && given[name] >= least && given[name] <= most;
    return isIn ? undefined : `From ${least} to ${most.toLocaleString("en")} characters.`;
  };
  const crossed = minChunkSize < maxChunkSize ? undefined : "Less than “at most”.";
  return { maxChunkSize: wrong("maxChunkSize"), minChunkSize: wrong("minChunkSize") ?? crossed };
}

/** Whether the new documents can be cut as is said. */
export const canCut = computed(() => !Object.values(wrongLengths(cutting.value)).some(Boolean));

/** How new documents are cut; kept while the tab is open. */
export const cutting = signal<Cutting>(USUAL);

const BATCH = 20;

/** Sends files, some at a time. */
export async function upload(files: readonly File[]): Promise<void> {
  const before = sending.value ?? { files: 0, done: 0 };
  sending.value = { ...before, files: before.files + files.length };
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
      arrive(answer.data.items);
    } catch (error) {
      const reason = asError(error).message;
      refusals.value = [...refusals.value, ...part.map((file) => ({ name: file.name, reason }))];
    }
    const now: Sending = sending.value ?? { files: 0, done: 0 };
    const done = now.done + part.length;
    sending.value = done < now.files ? { ...now, done } : null;
  }
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

export async function addUrl(url: string): Promise<void> {
  const body = { url, projectId: projectId.value, ...cuts() };
  arrive([await take(api.POST("/api/v1/ingest/url", { body }))]);
}

export async function addText(name: string, text: string): Promise<void> {
  const body = { text, name: name || null, projectId: projectId.value, ...cuts() };
  arrive([await take(api.POST("/api/v1/ingest/text", { body }))]);
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
