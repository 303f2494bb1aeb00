import { useState } from "preact/hooks";
import { Needs } from "../../components/Needs";
import type { Project } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { NameForm } from "../../components/NameForm";
import { Time } from "../../components/Time";
import { createProject, deleteProject } from "../../state/projects";
import { choose, DEFAULT, may, project, projects } from "../../state/session";
import { Keys } from "./Keys";
import { Lightrag } from "./Lightrag";

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
              <th scope="col" class="wide">
                Language
              </th>
              <th scope="col" class="wide">
                Created
              </th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {projects.value?.map((one) => (
              <tr key={one.id}>
                <td class="named">
                  <strong>{one.name}</strong>
                  {one.description && <p class="quiet">{one.description}</p>}
                </td>
                <td class="wide">{one.language}</td>
                <td class="wide">
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
                  {one.id !== DEFAULT && may("admin") && (
                    <button
                      type="button"
                      class="ghost"
                      aria-label={`Delete ${one.name}`}
                      onClick={() => setDoomed(one)}
                    >
                      Delete
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {projects.value?.length === 0 && <p class="quiet">There are no projects yet.</p>}
      <Needs scope="server">
        <NewProject />
      </Needs>
      <Needs scope="admin">{project.value && <Lightrag key={project.value.id} one={project.value} />}</Needs>
      <Keys />
      {doomed && <DeleteProject one={doomed} onClose={() => setDoomed(null)} />}
    </div>
  );
}

function NewProject() {
  return (
    <section class="panel">
      <h2>New project</h2>
      <NameForm
        label="Name of the new project"
        placeholder="Name"
        verb="Create"
        primary
        make={createProject}
      />
    </section>
  );
}

function DeleteProject({ one, onClose }: { one: Project; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  return (
    <Confirm
      title={`Delete ${one.name}?`}
      verb="Delete"
      act={() => deleteProject(one.id)}
      onClose={onClose}
      ready={typed === one.name}
    >
      <p>All its documents, its graph, its answers and its keys go. It cannot be undone.</p>
      <label class="field">
        <span>Type the project's name</span>
        <input value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      </label>
    </Confirm>
  );
}
