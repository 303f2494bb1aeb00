import type { Schemas } from "../../api/client";
import { count } from "../../text/format";

const BARS = 24;

/** How a document would be cut: sizes as a histogram, the cuts on its text. */
export function Cuts({ of, name }: { of: Schemas["PreviewAnswer"]; name?: string }) {
  const { chunks, summary } = of;
  if (chunks.length === 0) return <p class="quiet">There is no text to cut.</p>;
  const share = summary.sentenceEndShare;
  return (
    <section class="cuts" aria-label="How it would be cut">
      <p class="quiet">
        {name && <>{name}: </>}
        {count(summary.count, "chunk")} of{" "}
        {summary.minSize < summary.maxSize && `${summary.minSize.toLocaleString("en")} to `}
        {count(summary.maxSize, "character")}
        {share !== null && <>; {Math.round(share * 100)} % of the cuts are at the end of a sentence</>}
      </p>
      <Histogram sizes={chunks.map((one) => one.size)} most={of.chunkingOptions.maxChunkSize} />
      <p class="quiet scale" aria-hidden="true">
        <span>0</span>
        <span>{of.chunkingOptions.maxChunkSize.toLocaleString("en")} characters</span>
      </p>
      <div class="document-text" tabIndex={0} role="region" aria-label="The cuts on the text">
        {chunks.slice(0, 60).map((one) => (
          <p
            key={one.index}
            class="cut"
            title={`Chunk ${one.index + 1}, ${count(one.size, "character")}, ${one.boundaryType}`}
          >
            {one.text}
          </p>
        ))}
      </div>
    </section>
  );
}

function Histogram({ sizes, most }: { sizes: number[]; most: number }) {
  const bins = Array.from({ length: BARS }, () => 0);
  for (const size of sizes) {
    const bin = Math.min(BARS - 1, Math.floor((size / most) * BARS));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const highest = Math.max(...bins);
  return (
    <svg
      class="histogram"
      viewBox={`0 0 ${BARS * 10} 40`}
      preserveAspectRatio="none"
      role="img"
      aria-label="Sizes of the chunks"
    >
      {bins.map((n, i) => (
        <rect key={i} x={i * 10 + 1} width={8} y={40 - (n / highest) * 38} height={(n / highest) * 38} />
      ))}
    </svg>
  );
}
