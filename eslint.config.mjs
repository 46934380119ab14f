import js from '@eslint/js'
import vue from 'eslint-plugin-vue'
import globals from 'globals'
import ts from 'typescript-eslint'
import vueParser from 'vue-eslint-parser'

/** Rules about bugs, not about layout. Types are consulted where a forgotten await would lose an error. */
export default ts.config(
  { ignores: ['out/**', 'dist/**', 'native/**', '.*/**', 'coverage/**', 'test-results/**'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,vue}'],
    extends: [ts.configs.strict],
    rules: {
      // Index access is checked by noUncheckedIndexedAccess; `!` marks the places where the loop already proves it.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'none' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false }],
      '@typescript-eslint/no-dynamic-delete': 'off',
      'no-console': 'error',
      'no-undef': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: ['core/**/*.ts', 'main/**/*.ts', 'preload/**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['**/*.vue'],
    extends: [...vue.configs['flat/recommended']],
    languageOptions: { parser: vueParser, parserOptions: { parser: ts.parser, extraFileExtensions: ['.vue'] }, globals: globals.browser },
  },
  {
    // Layout belongs to the author; names of one word are views and small parts, never clashing with HTML elements here.
    files: ['**/*.vue'],
    rules: {
      ...Object.fromEntries(
        ['attributes-order', 'first-attribute-linebreak', 'html-closing-bracket-newline', 'html-closing-bracket-spacing', 'html-indent', 'html-quotes', 'html-self-closing', 'max-attributes-per-line', 'multiline-html-element-content-newline', 'mustache-interpolation-spacing', 'no-multi-spaces', 'no-spaces-around-equal-signs-in-attribute', 'singleline-html-element-content-newline', 'v-slot-style'].map((name) => [`vue/${name}`, 'off']),
      ),
      'vue/multi-word-component-names': 'off',
      'vue/require-default-prop': 'off',
      'vue/no-v-html': 'error',
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
    },
  },
  // Runs inside reports.
  { files: ['core/formats/html/report.js'], languageOptions: { sourceType: 'script', globals: globals.browser } },
  { files: ['**/*.mjs', '*.config.ts'], languageOptions: { globals: globals.node } },
  { files: ['core/**', 'main/**', 'renderer/**', 'preload/**', 'test/**'], linterOptions: { noInlineConfig: true } },
  // Expected values are written with the digits their source prints, and terminals speak in control characters.
  {
    files: ['**/*.test.ts'],
    rules: {
      'no-loss-of-precision': 'off',
      'no-control-regex': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: "CallExpression[callee.property.name='toBeGreaterThanOrEqual'][arguments.0.value=0]", message: 'No count, size or time is below 0: state the value that is expected.' },
        { selector: "CallExpression[callee.property.name=/^(toBeTruthy|toBeFalsy|toBeDefined)$/]", message: 'Nearly every value passes: state the one that is expected.' },
      ],
    },
  },
  { files: ['main/cli/**', 'scripts/**', 'test/**'], rules: { 'no-console': 'off' } },
)
