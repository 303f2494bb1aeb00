import { api, take, type Project } from "../api/client";
import { choose, loadProjects } from "./session";

/** Creates a project and opens it. */
export async function createProject(name: string): Promise<void> {
  const made = await take(api.POST("/api/v1/projects", { body: { name } }));
  await loadProjects();
  choose(made.id);
}

export async function deleteProject(id: string): Promise<void> {
  await take(api.DELETE("/api/v1/projects/{project_id}", { params: { path: { project_id: id } } }));
  await loadProjects();
}

export async function configure(id: string, config: Partial<Project["config"]>): Promise<void> {
  const params = { path: { project_id: id } };
  await take(api.PATCH("/api/v1/projects/{project_id}", { params, body: { config } }));
}
