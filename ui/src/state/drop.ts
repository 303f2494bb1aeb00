import { useEffect, useRef, useState } from "preact/hooks";

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
