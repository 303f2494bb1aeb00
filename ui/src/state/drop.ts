import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { upload } from "./adding";
import { may } from "./session";

type Taker = (files: File[]) => void;

/** Whether files hang over the page. */
const over = signal(false);
/** What takes the files instead of sending them at once: an open form. */
let taker: Taker | null = null;

/** Gives dropped files to an open form. */
export function useDropsFor(form: Taker): void {
  useEffect(() => {
    taker = form;
    return () => (taker = null);
  });
}

/** Takes files that fall on any page; true while they hang over it. Without this the browser would leave the page for them. */
export function useDrop(): boolean {
  useEffect(() => {
    const stop = new AbortController();
    const on = (name: "dragover" | "dragleave" | "drop", act: (event: DragEvent) => void): void =>
      addEventListener(name, act, { signal: stop.signal });
    on("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      over.value = true;
    });
    on("dragleave", (event) => {
      if (event.relatedTarget === null) over.value = false;
    });
    on("drop", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      over.value = false;
      if (may("write")) void filesOf(event.dataTransfer).then(add);
    });
    return () => stop.abort();
  }, []);
  return over.value;
}

function add(files: File[]): void {
  if (files.length === 0) return;
  if (taker) taker(files);
  else void upload(files);
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
