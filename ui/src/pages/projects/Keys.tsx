import { useState } from "preact/hooks";
import { Confirm } from "../../components/Confirm";
import { Needs } from "../../components/Needs";
import { Show } from "../../components/States";
import { Time } from "../../components/Time";
import { key } from "../../state/key";
import { revokeKey, useKeys, type Key } from "../../state/keys";
import { me, projects, signOut } from "../../state/session";
import { NewKey } from "./NewKey";

/** The key of this tab; for administrators all keys, to create and revoke them. */
export function Keys() {
  return (
    <section class="panel">
      <h2>Keys</h2>
      {key.value ? (
        <p>
          This tab uses the key {me.value?.name && <strong>{me.value.name}</strong>}{" "}
          <code>{key.value.slice(0, 15)}…</code> with the scope {me.value?.scope}.{" "}
          <button type="button" onClick={signOut}>
            Forget it
          </button>
        </p>
      ) : (
        <p>This tab uses no key: the server asks for none on this machine.</p>
      )}
      <Needs scope="admin">
        <AllKeys />
      </Needs>
    </section>
  );
}

const HEADS = [["Name"], ["Scope"], ["Created", "wide"], ["Last used", "wide"], ["State"]] as const;

function AllKeys() {
  const keys = useKeys();
  const [doomed, setDoomed] = useState<Key | null>(null);
  return (
    <>
      <NewKey made={keys.reload} />
      <Show of={keys} empty={(all) => all.length === 0 && <p class="quiet">There are no keys yet.</p>}>
        {(all) => (
          <div class="scroll-x" tabIndex={0} role="region" aria-label="All keys">
            <table>
              <thead>
                <tr>
                  {HEADS.map(([name, wide]) => (
                    <th key={name} scope="col" class={wide}>
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {all.map((one) => (
                  <Row key={one.id} one={one} revoke={() => setDoomed(one)} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Show>
      {doomed && (
        <Confirm
          title={`Revoke ${doomed.name || doomed.prefix}?`}
          verb="Revoke"
          act={() => revokeKey(doomed.id).then(keys.reload)}
          onClose={() => setDoomed(null)}
        >
          <p>
            Programs that use it stop at once.{" "}
            {doomed.id === me.value?.key_id && <strong>This tab uses it, too.</strong>} It cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

function Row({ one, revoke }: { one: Key; revoke: () => void }) {
  const opens = projects.value?.find((each) => each.id === one.project_id)?.name ?? one.project_id;
  return (
    <tr>
      <td class="named">
        {one.name || <span class="quiet">unnamed</span>}
        <br />
        <code class="quiet">wh_{one.prefix}_…</code>
      </td>
      <td class="named">
        {one.scope}
        <br />
        <span class="quiet">{opens ?? "all projects"}</span>
      </td>
      <td class="wide">
        <Time at={one.created_at} />
      </td>
      <td class="wide">{one.last_used_at ? <Time at={one.last_used_at} /> : "never"}</td>
      <td>
        {one.revoked_at ? (
          <>
            revoked <Time at={one.revoked_at} />
          </>
        ) : (
          <button type="button" aria-label={`Revoke ${one.name || one.prefix}`} onClick={revoke}>
            Revoke
          </button>
        )}
      </td>
    </tr>
  );
}
