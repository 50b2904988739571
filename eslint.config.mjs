import { readFileSync } from 'node:fs';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Folder of src → folders it may import; the same data as the architecture test's and ARCHITECTURE.md's. */
const importTable = JSON.parse(readFileSync(new URL('test/architecture/import-table.json', import.meta.url), 'utf8'));

/** The import rules of one folder of src: only listed folders, only through their index, never its own index. */
function importRules([folder, allowed]) {
  const others = Object.keys(importTable).filter((name) => name !== folder);
  const forbidden = others.filter((name) => !allowed.includes(name));
  const patterns = [
    { regex: String.raw`^(\.\./)+(${forbidden.join('|')})/`, message: `src/${folder} must not import this module.` },
    {
      regex: String.raw`^(\.\./)+(${others.join('|')})/(?!index\.js$)`,
      message: 'Import a module through its index.ts.',
    },
    { regex: String.raw`^\.{1,2}/(\.\./)*index\.js$`, message: 'A module never imports its own index.' },
  ];
  return { files: [`src/${folder}/**/*.ts`], rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

const ours = {
  'max-lines': ['error', 300],
  'max-lines-per-function': ['error', 60],
  'no-console': 'error',
  eqeqeq: ['error', 'always', { null: 'ignore' }],
  'no-restricted-syntax': [
    'error',
    { selector: 'ExportAllDeclaration', message: 'Name each export.' },
    { selector: 'ExportDefaultDeclaration', message: 'Use a named export.' },
    { selector: 'TSEnumDeclaration', message: 'Use a union of strings from a const list.' },
  ],
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/max-params': ['error', { max: 5 }],
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/no-non-null-assertion': 'off',
  '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
  // An interface may promise a promise that one of its implementations has at hand.
  '@typescript-eslint/require-await': 'off',
  '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
};

/** Tests nest their cases in one function and read answers as JSON of any shape. */
const ofTests = {
  '@typescript-eslint/max-params': 'off',
  'max-lines-per-function': 'off',
  '@typescript-eslint/no-unsafe-argument': 'off',
  '@typescript-eslint/no-unsafe-assignment': 'off',
  '@typescript-eslint/no-unsafe-call': 'off',
  '@typescript-eslint/no-unsafe-member-access': 'off',
  '@typescript-eslint/no-unsafe-return': 'off',
  '@typescript-eslint/unbound-method': 'off',
};

export default defineConfig(
  { ignores: ['dist/', 'coverage/', 'models/', 'tools/', 'examples/*/*.js'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: ours,
  },
  // As part of this repository: by themselves they would look for the installed package.
  {
    files: ['examples/**/*.ts'],
    languageOptions: { parserOptions: { projectService: false, project: 'tsconfig.json' } },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/config/**', 'src/cli/environment.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config reads it.' },
      ],
    },
  },
  // The test kit starts the whole application and looks into its modules.
  ...Object.entries(importTable)
    .filter(([folder]) => folder !== 'testing')
    .map(importRules),
  { files: ['test/**/*.ts', '**/*.spec.ts'], rules: ofTests },
  // Tools find what they need by these files' default export.
  { files: ['vitest.config.ts', 'src/data-source.ts'], rules: { 'no-restricted-syntax': 'off' } },
);
