import { Fragment } from "preact";
import { NoMatch, Show } from "../../components/States";
import { useReference, type OpenApi, type Operation } from "../../state/reference";
import { query, setQuery } from "../../state/router";
import type { Shapes } from "../../text/shape";
import { Said } from "./Said";
import { Shape } from "./Shape";

/** The API reference, from the server's own OpenAPI document. */
export default function Reference() {
  const found = useReference();
  const wanted = (query.value.get("q") ?? "").toLowerCase();
  return (
    <div class="page-body">
      <div class="page-head">
        <h1>API reference</h1>
        <a href="/openapi.json">openapi.json</a>
        <input
          type="search"
          data-main-input
          aria-label="Find a route"
          placeholder="Find a route"
          value={query.value.get("q") ?? ""}
          onInput={(event) => setQuery({ q: event.currentTarget.value }, { replace: true })}
        />
      </div>
      <Show of={found} lines={12}>
        {(document) => {
          const all = operations(document).filter(({ text }) => text.includes(wanted));
          if (all.length === 0) return <NoMatch what="route" names={["q"]} />;
          return [...new Set(all.map((one) => one.operation.tags?.[0] ?? ""))].map((tag) => (
            <section key={tag} class="reference">
              <h2>{tag === "openai" ? "OpenAI" : tag}</h2>
              {all
                .filter((one) => one.operation.tags?.[0] === tag)
                .map((one) => (
                  <Route
                    key={one.operation.operationId}
                    method={one.method}
                    path={one.path}
                    operation={one.operation}
                    all={document.components.schemas}
                  />
                ))}
            </section>
          ));
        }}
      </Show>
    </div>
  );
}

function operations(
  document: OpenApi,
): { method: string; path: string; operation: Operation; text: string }[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      text: `${method} ${path} ${operation.summary ?? ""} ${operation.operationId}`.toLowerCase(),
    })),
  );
}

function Route(props: { method: string; path: string; operation: Operation; all: Shapes }) {
  const { method, path, operation, all } = props;
  return (
    <details>
      <summary>
        <code class="method">{method}</code> <code>{path}</code>{" "}
        <span class="quiet">{operation.summary}</span>
      </summary>
      {operation.description?.split(/\n{2,}/).map((part) => (
        <p key={part}>
          <Said text={part} />
        </p>
      ))}
      {operation.parameters && operation.parameters.length > 0 && (
        <div class="scroll-x">
          <table>
            <tbody>
              {operation.parameters.map((one) => (
                <tr key={one.name}>
                  <th scope="row">
                    <code>{one.name}</code>
                  </th>
                  <td>{one.in}</td>
                  <td>
                    {one.schema?.format ?? one.schema?.type}
                    {one.required && ", required"}
                  </td>
                  <td>
                    <Said text={one.description ?? ""} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {Object.entries(operation.requestBody?.content ?? {}).map(([type, body]) => (
        <Fragment key={type}>
          <p>
            Body <code>{type}</code>
          </p>
          <Shape of={body.schema} all={all} />
        </Fragment>
      ))}
      {Object.entries(operation.responses).map(([status, one]) => (
        <Fragment key={status}>
          <p>
            <code>{status}</code> <Said text={one.description ?? ""} />
          </p>
          {Object.entries(one.content ?? {}).map(([type, body]) => (
            <Fragment key={type}>
              {type !== "application/json" && (
                <p>
                  <code>{type}</code>
                </p>
              )}
              {body.schema && <Shape of={body.schema} all={all} />}
            </Fragment>
          ))}
        </Fragment>
      ))}
    </details>
  );
}
