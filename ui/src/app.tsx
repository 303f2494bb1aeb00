import { Arrivals } from "./components/Arrivals";
import { Dialog } from "./components/Dialog";
import { Evidence } from "./components/Evidence";
import { Empty, Failed, Loading } from "./components/States";
import { shown } from "./state/evidence";
import { helpOpen, KEYS } from "./state/keyboard";
import { key, lockedOut } from "./state/key";
import { askAddress } from "./state/asking";
import { useCode, useMenu, usePageFocus, useTitle } from "./state/shell";
import { useResource } from "./state/resource";
import { href, path, section } from "./state/router";
import { choose, loadProjects, project, projects, signOut, unknown } from "./state/session";
import { nextTheme, theme } from "./state/theme";
import { Gate } from "./pages/Gate";
import { pageFor } from "./pages/routes";

const LINKS: [string, string][] = [
  ["/", "Ask"],
  ["/documents", "Documents"],
  ["/search", "Search"],
  ["/graph", "Graph"],
  ["/schema", "Schema"],
  ["/jobs", "Jobs"],
];

export function App() {
  const ready = useResource(() => loadProjects(), [key.value]);
  if (lockedOut.value) return <Gate />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Header />
      <div class={`body${shown.value ? " with-evidence" : ""}`}>
        <main id="main" tabIndex={-1}>
          {ready.error ? (
            <Failed error={ready.error} retry={ready.reload} />
          ) : unknown.value ? (
            <Empty title={`There is no project “${unknown.value}”`} first>
              <p>
                <a class="button" href="/">
                  Open the first project
                </a>
              </p>
            </Empty>
          ) : (
            (projects.value && <Page key={project.value?.id} />) || <Loading lines={10} page />
          )}
        </main>
        <Evidence />
      </div>
      <Arrivals />
      {helpOpen.value && <Help />}
    </>
  );
}

function Page() {
  const { page, props } = pageFor(path.value);
  const loaded = useCode(page.load, page.name);
  usePageFocus(page.name);
  useTitle(page.name);
  if (loaded.error) return <Failed error={loaded.error} retry={loaded.reload} />;
  const Shown = loaded.data?.default;
  return Shown ? <Shown {...props} /> : <Loading lines={10} page />;
}

function Header() {
  const here = path.value;
  const menu = useMenu();
  const openHelp = (): void => {
    menu.current?.querySelector("summary")?.focus(); // the dialog gives the focus back to it
    menu.current?.removeAttribute("open");
    helpOpen.value = true;
  };
  return (
    <header class="top">
      <a class="brand" href={href("/")}>
        Whence
      </a>
      {projects.value && projects.value.length > 1 && (
        <select
          aria-label="Project"
          value={project.value?.id}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          {projects.value.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
      )}
      <nav aria-label="Pages">
        {LINKS.map(([to, name]) => (
          <a
            key={to}
            href={to === "/" ? askAddress() : href(to)}
            aria-current={section(here) === to ? "page" : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <details class="more" ref={menu}>
        <summary aria-label="More">⋯</summary>
        <div>
          <a href={href("/projects")}>Projects and keys</a>
          <a href={href("/status")}>Status</a>
          <a href={href("/docs")}>API reference</a>
          <button type="button" class="ghost" onClick={nextTheme}>
            Theme: {theme.value}
          </button>
          <button type="button" class="ghost" onClick={openHelp}>
            Keyboard
          </button>
          {key.value && (
            <button type="button" class="ghost" onClick={signOut}>
              Forget the key
            </button>
          )}
        </div>
      </details>
    </header>
  );
}

function Help() {
  return (
    <Dialog title="Keyboard" onClose={() => (helpOpen.value = false)}>
      <dl class="keys">
        {KEYS.map(([name, what]) => (
          <div key={name}>
            <dt>
              <kbd>{name}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
