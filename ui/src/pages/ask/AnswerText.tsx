import type { ComponentChildren } from "preact";
import { Chip } from "../../components/Chip";
import { ofCitation, ofSource, show, useNeighbours, type Place } from "../../state/evidence";
import type { Turn } from "../../state/conversation";
import { project } from "../../state/session";
import { CHIPS, marked, MARKS, numbering, PIECE, sentences, soFar, type Sentence } from "../../text/answer";
import { markdown, verbatim } from "../../text/markdown";

/** Addresses of other sites are text unless the project allows them: a model or a document may have made them up. */
function live(address: string): boolean {
  if (project.value?.config.media === "allowed") return true;
  return URL.canParse(address) && new URL(address).origin === location.origin;
}

/** An answer: its sentences underlined by their support, its citations as numbered chips. */
export function AnswerText({ turn, nth }: { turn: Turn; nth: number }) {
  const { citations } = turn;
  const response = turn.state === "done" ? turn.response : soFar(turn.response);
  const made = marked(response, citations);
  const found = sentences(citations);
  const numbers = numbering(response, citations);
  const cited = placesOf(turn, nth, found);
  const chips = new Map<string, Place | null>();
  const list = new Set<Place>();
  for (const [piece] of made.matchAll(CHIPS)) {
    const [sentence, id] = partsOf(piece);
    const own = found[sentence]?.citations.filter((index) => citations[index]?.chunkId === id) ?? [];
    const places = own.map((index) => cited[index] ?? null);
    if (own.length === 0)
      places.push(unsupporting(turn, cited, id, `${nth}.${sentence + 1}-${numbers.get(id) ?? 0}`));
    chips.set(piece, places[0] ?? null);
    for (const one of places) if (one) list.add(one);
  }
  for (const one of cited) if (one) list.add(one);
  const all = [...list];
  useNeighbours(all);
  let current = -1;

  const leaf = (text: string): ComponentChildren =>
    text.split(PIECE).map((piece) => {
      if (piece.startsWith(MARKS.sentence)) current = Number(piece.slice(MARKS.sentence.length, -1));
      else if (piece.startsWith(MARKS.end)) current = -1;
      else if (piece.startsWith(MARKS.chip))
        return <Chip n={numbers.get(partsOf(piece)[1]) ?? 0} place={chips.get(piece) ?? null} list={all} />;
      else if (piece) return <Words text={piece} sentence={found[current]} places={cited} list={all} />;
      return null;
    });

  return (
    <div class="answer-text">
      {turn.model === "extractive" ? verbatim(made, leaf) : markdown(made, leaf, live)}
    </div>
  );
}

/** The sentence and the chunk of a chip. */
function partsOf(piece: string): [number, string] {
  const [sentence, id] = piece.slice(MARKS.chip.length, -1).split(":");
  return [Number(sentence), id ?? ""];
}

/** The source that a sentence names may support another sentence only, or none. */
function unsupporting(turn: Turn, cited: (Place | null)[], chunkId: string, of: string): Place | null {
  const judged = turn.state === "done";
  const place = cited.find((one) => one?.chunkId === chunkId) ?? ofSource(turn.sources, chunkId, judged);
  return place && { ...place, of, level: judged ? "none" : place.level };
}

function Words(props: {
  text: string;
  sentence: Sentence | undefined;
  places: (Place | null)[];
  list: Place[];
}) {
  const { sentence, places, list } = props;
  if (!sentence) return <>{props.text}</>;
  const place = sentence.citations.map((index) => places[index]).find((one) => one);
  const open = place ? () => show(place, list) : undefined;
  return (
    <span class={`sentence ${sentence.level}${open ? " open" : ""}`} onClick={open}>
      {props.text}
    </span>
  );
}

/** For each citation its place, or null; one sentence may have several. */
function placesOf(turn: Turn, nth: number, found: Sentence[]): (Place | null)[] {
  const points = [...turn.response];
  return turn.citations.map((one, n) => {
    const sentence = found.find((s) => s.start === one.responseStart);
    const stale = turn.answer?.staleReasons.find((reason) => reason.citations.includes(n));
    const says = sentence && points.slice(sentence.start, sentence.end).join("");
    const place = ofCitation(one, says, stale);
    return place && { ...place, of: `${nth}.${n + 1}` };
  });
}
