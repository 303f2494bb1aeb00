import { useEffect, useState } from "preact/hooks";

/** What is being typed, starting from what the address holds; the browser's buttons change it, too. */
export function useTyped(held: string): [string, (text: string) => void] {
  const [text, setText] = useState(held);
  useEffect(() => setText(held), [held]);
  return [text, setText];
}
