import { lintRules } from './rules.ts';
import { unusedPillarRule } from './unused-pillar.ts';

const introduction = `# Lint rules

\`tsalt-ssh lint\` reports states that compile and are probably wrong ([guide](../guides/check-before-any-host.md#lint)). This page is
written by \`npm run docs\`; a test runs its examples.

A comment switches rules off on its line and on the line below it, or in the whole file:

\`\`\`yaml
- mode: 0644 # tsalt-lint: disable=unquoted-mode
# tsalt-lint: disable-file=pkg-latest, cmd-without-condition
\`\`\`

\`tsalt.yaml\` does so for all files, and chooses severities:

\`\`\`yaml
lint:
  disable: [pkg-latest]
  severity: { explicit-order: warning, cmd-wait: error, service-not-enabled: off }
\`\`\`

Beside these rules, \`lint\` reports all that \`validate\` reports, such as misspelt arguments (\`unknown-argument\`), unknown functions
(\`unknown-function\`), requisites on states that do not exist (\`lost-requisite\`), and templates that do not render (\`render\`).
`;

const fixable: ReadonlySet<string> = new Set(['unquoted-mode', 'quoted-boolean']);

/** The text of docs/reference/lint-rules.md. */
export const rulesPage = (): string => {
  const all = [...lintRules.values(), unusedPillarRule].sort((a, b) => (a.id < b.id ? -1 : 1));
  const sections = all.map(({ id, severity, why, bad, good }) => {
    const fix = fixable.has(id) ? ' Corrected by `--fix`.' : '';
    return `## ${id}\n\nSeverity: ${severity}.${fix} ${why}\n\n\`\`\`yaml\n# reported\n${bad}\`\`\`\n\n\`\`\`yaml\n# correct\n${good}\`\`\`\n`;
  });
  return [introduction, ...sections].join('\n');
};
