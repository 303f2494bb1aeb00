import { Needs } from "../../components/Needs";
import { Show } from "../../components/States";
import { Time } from "../../components/Time";
import { useCounts, useFindings, useReadiness, useVersion } from "../../state/health";
import { project } from "../../state/session";
import { count } from "../../text/format";

/** Whether the server can work, and what this project has. */
export default function StatusPage() {
  const ready = useReadiness();
  const about = useVersion();
  return (
    <div class="page-body">
      <div class="page-head">
        <h1>Status</h1>
        {about.data && <span class="quiet">Whence {about.data}</span>}
      </div>
      <Show of={ready}>
        {(one) => (
          <>
            <p>
              <span class={`badge ${one.status === "ready" ? "good" : "bad"}`}>{one.status}</span>
            </p>
            <table>
              <tbody>
                {(["database", "migrations", "worker"] as const).map((name) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>{one[name]}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {one.background.map((failure) => (
              <p key={failure.name} class="failed">
                {failure.name} has failed {count(failure.times, "time")} since <Time at={failure.since} />:{" "}
                {failure.reason}
              </p>
            ))}
          </>
        )}
      </Show>
      <Counts />
      <Needs scope="server">
        <Server />
      </Needs>
    </div>
  );
}

const MARKS = { ok: "good", note: "", wrong: "bad" } as const;

function Server() {
  const found = useFindings();
  return (
    <section class="panel">
      <div class="row">
        <h2 class="grow">Server</h2>
        <button type="button" disabled={found.loading} onClick={found.reload}>
          {found.loading ? "Checking …" : "Check again"}
        </button>
      </div>
      <Show of={found} lines={8}>
        {(all) => (
          <>
            <table class="findings">
              <tbody>
                {all.findings.map((one, i) => (
                  <tr key={i}>
                    <th scope="row">{one.what}</th>
                    <td>
                      <span class={`badge ${MARKS[one.state]}`}>{one.state}</span>
                    </td>
                    <td>{one.says}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <details>
              <summary>{count(Object.keys(all.settings).length, "setting")}</summary>
              <dl class="settings">
                {Object.entries(all.settings).map(([name, given]) => (
                  <div key={name}>
                    <dt>
                      <code>{name}</code>
                    </dt>
                    <dd>{given}</dd>
                  </div>
                ))}
              </dl>
            </details>
          </>
        )}
      </Show>
    </section>
  );
}

function Counts() {
  const found = useCounts();
  return (
    <section class="panel">
      <h2>{project.value?.name}</h2>
      <Show of={found}>
        {(all) => (
          <table>
            <tbody>
              <tr>
                <th scope="row">documents</th>
                <td>{all.documents.toLocaleString("en")}</td>
              </tr>
              <tr>
                <th scope="row">jobs</th>
                <td>{all.jobs.toLocaleString("en")}</td>
              </tr>
              {Object.keys(all.types).length === 0 && (
                <tr>
                  <th scope="row">objects</th>
                  <td>none yet</td>
                </tr>
              )}
              {Object.entries(all.types).map(([name, n]) => (
                <tr key={name}>
                  <th scope="row">objects of type {name}</th>
                  <td>{n.toLocaleString("en")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Show>
    </section>
  );
}
