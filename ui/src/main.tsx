import { render } from "preact";
import { App } from "./app";
import { listen } from "./state/keyboard";
import { followLinks } from "./state/router";
import "./state/theme";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/evidence.css";
import "./styles/ask.css";
import "./styles/lists.css";
import "./styles/graph.css";
import "./styles/forms.css";

followLinks();
listen();
const root = document.getElementById("app");
if (root) render(<App />, root);
