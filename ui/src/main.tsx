import { render } from "preact";
import { App } from "./app";
import { listen } from "./state/keyboard";
import { followLinks } from "./state/router";
import "./state/theme";
import "./styles/index.css";

followLinks();
listen();
const root = document.getElementById("app");
if (root) render(<App />, root);
