import js from "@eslint/js";
import ts from "typescript-eslint";

export default ts.config({ ignores: ["node_modules"] }, js.configs.recommended, ts.configs.strict, {
  rules: {
    "@typescript-eslint/no-non-null-assertion": "error",
    "max-lines": ["error", { max: 260, skipBlankLines: true }],
    eqeqeq: "error",
    "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_" }],
  },
});
