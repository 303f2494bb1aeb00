import { useState } from "preact/hooks";
import { named, typeOf, type JsonSchema, type Shapes } from "../../text/shape";
import { Said } from "./Said";

/** The fields of a shape, and the shapes that they name, each of which can be opened. */
export function Shape({ of, all }: { of: JsonSchema; all: Shapes }) {
  const fields = Object.entries(of.properties ?? {});
  return (
    <>
      {fields.length > 0 && (
        <div class="scroll-x" tabIndex={0} role="group" aria-label="Fields">
          <table>
            <tbody>
              {fields.map(([name, field]) => (
                <tr key={name}>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td>
                    {typeOf(field)}
                    {of.required?.includes(name) && ", required"}
                  </td>
                  <td>
                    <Said text={field.description ?? ""} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {named(of).map((name) => (
        <Named key={name} name={name} all={all} />
      ))}
    </>
  );
}

/** A shape that is drawn when it is opened: shapes may contain themselves. */
function Named({ name, all }: { name: string; all: Shapes }) {
  const [open, setOpen] = useState(false);
  const of = all[name];
  return (
    <details class="shape" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{name}</code> {of?.enum && <span class="quiet">{typeOf(of)}</span>}
      </summary>
      {open && of && <Shape of={of} all={all} />}
    </details>
  );
}
