import type { ComponentChildren } from "preact";
import { Chip } from "../../components/Chip";
import { ofCitation, ofSource, places as stepped, same, show, shown, type Place } from "../../state/evidence";
import type { Turn } from "../../state/conversation";
import { project } from "../../state/session";
import { marked, MARKS, numbering, sentences, soFar, type Sentence } from "../../text/answer";
import { markdown, verbatim } from "../../text/markdown";

const PIECE = new RegExp(
  `(${MARKS.sentence}\\d+${MARKS.stop}|${MARKS.end}|${MARKS.chip}-?\\d+:[^${MARKS.stop}]*${MARKS.stop})`,
);

/** Addresses of other sites are text unless the project allows them: a model or a document may have made them up. */
function live(address: string): boolean {
  if (project.value?.config.media === "allowed") return true;
  return URL.canParse(address) && new URL(address).origin === location.origin;
}

/** An answer: its sentences underlined by their support, its citations as numbered chips. */
export function AnswerText({ turn }: { turn: Turn }) {
  const { citations } = turn;
  const response = turn.state === "done" ? turn.response : soFar(turn.response);
  const found = sentences(citations);
  const numbers = numbering(response, citations);
  const places = placesOf(turn, found);
  const list = places.filter((one) => one !== null);
  const open = shown.value;
  const known = open && list.find((one) => same(one, open));
  if (known && stepped.value.length === 0) show(known, list);
  let current = -1;

  const placeOf = (sentence: number, chunkId: string): Place | null => {
    const own = found[sentence]?.citations.find((index) => citations[index]?.chunkId === chunkId);
    const any = own ?? citations.findIndex((one) => one.chunkId === chunkId && one.startOffset !== null);
    const place = places[any] ?? ofSource(turn.sources, chunkId, turn.state === "done");
    // The source that a sentence names may support another sentence only.
    return place && own === undefined && turn.state === "done" ? { ...place, level: "none" } : place;
  };

  const leaf = (text: string): ComponentChildren =>
    text.split(PIECE).map((piece) => {
      if (piece.startsWith(MARKS.sentence)) current = Number(piece.slice(1, -1));
      else if (piece.startsWith(MARKS.end)) current = -1;
      else if (piece.startsWith(MARKS.chip)) {
        const [sentence, id] = piece.slice(1, -1).split(":");
        return (
          <Chip n={numbers.get(id ?? "") ?? 0} place={placeOf(Number(sentence), id ?? "")} list={list} />
        );
      } else if (piece) return <Words text={piece} sentence={found[current]} places={places} list={list} />;
      return null;
    });

  const made = marked(response, citations);
  return (
    <div class="answer-text">
      {turn.model === "extractive" ? verbatim(made, leaf) : markdown(made, leaf, live)}
    </div>
  );
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
function placesOf(turn: Turn, found: Sentence[]): (Place | null)[] {
  const points = [...turn.response];
  return turn.citations.map((one, n) => {
    const sentence = found.find((s) => s.start === one.responseStart);
    const stale = turn.answer?.staleReasons.find((reason) => reason.citations.includes(n));
    return ofCitation(one, sentence && points.slice(sentence.start, sentence.end).join(""), stale);
  });
}
