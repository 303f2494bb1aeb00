import js from "@eslint/js";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["node_modules"] },
  js.configs.recommended,
  ts.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-non-null-assertion": "error",
      "max-lines": ["error", 200],
      eqeqeq: "error",
      // Nothing is ever parsed as HTML, so there is nothing to sanitise.
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe"].map((property) => ({
          property,
        })),
      ],
      "no-restricted-syntax": ["error", "JSXAttribute[name.name='dangerouslySetInnerHTML']"],
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_" }],
    },
  },
  {
    // Effects live in state/, components render.
    files: ["src/**"],
    ignores: ["src/api/**", "src/state/**"],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          paths: [
            {
              name: "preact/hooks",
              importNames: ["useEffect", "useLayoutEffect"],
              message: "Effects live in state/.",
            },
          ],
          patterns: [
            {
              group: ["**/api/client", "**/api/events", "whence-client", "openapi-fetch"],
              allowTypeImports: true,
              message: "Requests live in state/; only types come from here.",
            },
          ],
        },
      ],
    },
  },
);
