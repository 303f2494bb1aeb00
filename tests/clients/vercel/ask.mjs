// Vercel's AI SDK, with its provider for compatible servers and with OpenAI's own, by chat completions and by responses.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, streamText } from "ai";

const [baseURL, prompt] = process.argv.slice(2);

/** The provider for compatible servers has no place for annotations but the metadata that one takes oneself. */
const metadataExtractor = {
  extractMetadata: async ({ parsedBody }) => ({ whence: { citations: parsedBody.choices[0].message.annotations ?? [] } }),
  createStreamExtractor: () => {
    const citations = [];
    return {
      processChunk: (chunk) => citations.push(...(chunk.choices?.[0]?.delta?.annotations ?? [])),
      buildMetadata: () => ({ whence: { citations } }),
    };
  },
};

function cited({ sources, providerMetadata }) {
  const taken = providerMetadata?.whence?.citations?.map((one) => one.url_citation) ?? [];
  return [...sources, ...taken].map((one) => [one.title, one.url]);
}

async function ask(seenAs, model) {
  const whole = await generateText({ model, prompt });
  const stream = streamText({ model, prompt });
  let text = "";
  for await (const piece of stream.textStream) text += piece;
  const streamed = { sources: await stream.sources, providerMetadata: await stream.providerMetadata };
  const schema = jsonSchema({
    type: "object",
    properties: { days: { type: "integer" } },
    required: ["days"],
    additionalProperties: false,
  });
  const parsed = await generateText({ model, prompt, output: Output.object({ schema }) });
  return {
    seen_as: seenAs,
    text: whole.text,
    stream: text,
    citations: cited(whole),
    streamed: cited(streamed),
    object: parsed.output,
  };
}

const compatible = createOpenAICompatible({
  name: "whence",
  baseURL,
  apiKey: "x",
  metadataExtractor,
  supportsStructuredOutputs: true,
});
const openai = createOpenAI({ baseURL, apiKey: "x" });
const rows = {
  "@ai-sdk/openai-compatible": await ask("providerMetadata", compatible("default")),
  "@ai-sdk/openai chat": await ask("sources", openai.chat("default")),
  "@ai-sdk/openai responses": await ask("sources", openai("default")),
};
console.log(JSON.stringify({ rows }));
