import js from "@eslint/js";
import ts from "typescript-eslint";

export default ts.config({ ignores: ["node_modules"] }, js.configs.recommended, ts.configs.strict, {
  rules: {
    "@typescript-eslint/no-non-null-assertion": "error",
    "max-lines": ["error", { max: 260, skipBlankLines: true }],
    eqeqeq: "error",
    // Nothing is ever parsed as HTML, so there is nothing to sanitise.
    "no-restricted-properties": [
      "error",
      ...["innerHTML", "outerHTML", "insertAdjacentHTML", "setHTMLUnsafe"].map((property) => ({ property })),
    ],
    "no-restricted-syntax": ["error", "JSXAttribute[name.name='dangerouslySetInnerHTML']"],
    "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_" }],
  },
});
