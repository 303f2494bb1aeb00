// The built client against a real server, whose address is in WHENCE_URL, and against none.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { ApiError, parse, WhenceClient } from "../dist/index.js";

const url = process.env.WHENCE_URL;
const asked = "How many days of leave does everyone have in a year?";
const needsServer = { skip: url ? false : "WHENCE_URL names no server" };

test("an event is read, a comment is none", () => {
  assert.deepEqual(parse('event: token\ndata: {"text": "a"}'), { name: "token", data: { text: "a" } });
  assert.equal(parse(": still here"), null);
});

test("a server that does not answer is an error with a code", async () => {
  const nobody = new WhenceClient({ url: "http://127.0.0.1:1" });
  await assert.rejects(nobody.ask("x"), (error) => error instanceof ApiError && error.code === "OFFLINE");
});

const FOREIGN = [
  "",
  "<html>It works!</html>",
  "null",
  "{}",
  '{"success": true, "data": null}',
  '{"success": true, "data": {"items": null}}',
  "event: token\ndata: {\n\n",
  "event: error\ndata: null\n\n",
];

test("what another server answers is an error with a code", async () => {
  for (const body of FOREIGN) {
    const server = createServer((_, answer) => answer.end(body));
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    const client = new WhenceClient({ url: `http://127.0.0.1:${server.address().port}` });
    const calls = [
      () => client.ask("x"),
      () => client.stream("x").next(),
      () => client.ingest({ text: "x", name: "x.md" }),
      () => client.ingest(new File(["x"], "x.md")),
      () => client.documents().next(),
    ];
    for (const call of body.includes("items") ? calls.filter((_, at) => at !== 2) : calls) {
      await assert.rejects(call(), { name: "ApiError", code: "UNEXPECTED_ANSWER" }, body);
    }
    await new Promise((closed) => server.close(closed));
  }
});

test("a refusal is an error with the server's code", needsServer, async () => {
  const client = new WhenceClient({ url });
  await assert.rejects(client.ask(""), { status: 400, name: "ApiError" });
  await assert.rejects(client.trace("x").next(), { status: 400 });
});

test("ask and stream say the same, with citations", needsServer, async () => {
  const client = new WhenceClient({ url: `${url}/` });
  const { response, citations } = await client.ask(asked);
  assert.match(citations[0].quote, /thirty days/);
  let text = "";
  let done;
  for await (const event of client.stream(asked)) {
    if (event.name === "token") text += event.data.text;
    if (event.name === "done") done = event.data;
  }
  assert.equal(text, response);
  assert.equal(done.response, response);
});

test("a stream can be left", needsServer, async () => {
  for await (const event of new WhenceClient({ url }).stream(asked)) {
    assert.equal(event.name, "sources");
    break;
  }
});

test("texts and files are ingested, found and listed page by page", needsServer, async () => {
  const client = new WhenceClient({ url });
  const ledger = { text: "The Ledger is a service.\n\nPort: 8080\n", name: "ledger.md" };
  const text = await client.ingest(ledger, { wait: true });
  assert.equal(text.status, "completed");
  const bread = new File(["Bread needs salt."], "bread.txt");
  const file = await client.ingest(bread, { chunkingStrategy: "sentence", wait: true });
  assert.equal(file.chunkCount, 1);
  await assert.rejects(client.ingest(bread, { chunkingStrategy: "none" }), { status: 400 });
  const { items } = await client.search("What does bread need?");
  assert.equal(items[0].document.name, "bread.txt");
  const names = [];
  for await (const one of client.documents({ limit: 1 })) names.push(one.name);
  assert.deepEqual(names.slice(0, 2), ["bread.txt", "ledger.md"]);
  assert.ok(names.length >= 3);
  await client.json(`/api/v1/documents/${text.documentId}`, { method: "DELETE" });
  await client.json(`/api/v1/documents/${file.documentId}`, { method: "DELETE" });
});
