import { useState } from "preact/hooks";
import { Needs } from "../../components/Needs";
import { api, take, type Project } from "../../api/client";
import { Dialog } from "../../components/Dialog";
import { Failed } from "../../components/States";
import { Time } from "../../components/Time";
import { useAction } from "../../state/resource";
import { choose, loadProjects, project, projects } from "../../state/session";
import { Keys } from "./Keys";

/** The projects that the key opens, and the keys. */
export default function Projects() {
  const [doomed, setDoomed] = useState<Project | null>(null);
  return (
    <div class="page-body">
      <div class="page-head">
        <h1>Projects and keys</h1>
      </div>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Language</th>
              <th scope="col">Created</th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {projects.value?.map((one) => (
              <tr key={one.id}>
                <td>
                  <strong>{one.name}</strong>
                  {one.description && <p class="quiet">{one.description}</p>}
                </td>
                <td>{one.language}</td>
                <td>
                  <Time at={one.created_at} />
                </td>
                <td class="number">
                  {one.id === project.value?.id ? (
                    <span class="badge good">open</span>
                  ) : (
                    <button type="button" class="ghost" onClick={() => choose(one.id)}>
                      Open
                    </button>
                  )}
                  <Needs scope="admin">
                    <button
                      type="button"
                      class="ghost"
                      aria-label={`Delete ${one.name}`}
                      onClick={() => setDoomed(one)}
                    >
                      ✕
                    </button>
                  </Needs>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Needs scope="admin">
        <NewProject />
      </Needs>
      <Keys />
      {doomed && <DeleteProject one={doomed} onClose={() => setDoomed(null)} />}
    </div>
  );
}

function NewProject() {
  const [name, setName] = useState("");
  const make = useAction(async () => {
    const made = await take(api.POST("/api/v1/projects", { body: { name: name.trim() } }));
    await loadProjects();
    setName("");
    choose(made.id);
  });
  return (
    <form
      class="panel"
      onSubmit={(event) => {
        event.preventDefault();
        void make.run();
      }}
    >
      <h2>New project</h2>
      <div class="row">
        <input
          class="grow"
          aria-label="Name of the new project"
          placeholder="Name"
          maxLength={200}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={!name.trim() || make.busy}>
          Create
        </button>
      </div>
      {make.error && <Failed error={make.error} />}
    </form>
  );
}

function DeleteProject({ one, onClose }: { one: Project; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const go = useAction(async () => {
    await take(api.DELETE("/api/v1/projects/{project_id}", { params: { path: { project_id: one.id } } }));
    await loadProjects();
    onClose();
  });
  return (
    <Dialog title={`Delete ${one.name}?`} onClose={onClose}>
      <p>All its documents, its graph, its answers and its keys go. It cannot be undone.</p>
      <label class="field">
        <span>Type the project's name</span>
        <input value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
      {go.error && <Failed error={go.error} />}
      <div class="row">
        <button
          type="button"
          class="danger"
          disabled={typed !== one.name || go.busy}
          onClick={() => void go.run()}
        >
          Delete
        </button>
      </div>
    </Dialog>
  );
}
