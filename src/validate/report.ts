import { relative } from 'node:path';
import { closestMatch } from '../data/closest-match.ts';
import { TsaltError } from '../protocol/error.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { findingText, type HostFinding, type Severity } from './findings.ts';

/** A finished check as the formats show it. */
export type CheckReport = {
  /** `validate` or `lint`. */
  readonly command: string;
  readonly findings: readonly HostFinding[];
  readonly hosts: number;
  /** Further lines for people. */
  readonly notes: readonly string[];
  readonly version: string;
  /** A sentence for each rule that has a page. */
  readonly rules: Readonly<Record<string, string>>;
};

type ReportFormat = (report: CheckReport) => string;

const formats: Readonly<Record<string, ReportFormat>> = {
  text: report => textReport(report),
  json: report => `${JSON.stringify(jsonReport(report), null, 2)}\n`,
  sarif: report => `${JSON.stringify(sarifReport(report), null, 2)}\n`,
  github: report => githubReport(report),
  junit: report => junitReport(report),
};

/**
 * The format of a name that `--out` takes.
 *
 * @throws TsaltError `usage-value` for any other name
 */
export const reportFormat = (name: string): ReportFormat => {
  const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (format) return format;
  const meant = closestMatch(name, Object.keys(formats));
  throw new TsaltError('usage-value', `There is no format '${name}' of findings.`, {
    hint:
      meant === undefined
        ? `The formats are ${Object.keys(formats).join(', ')}.`
        : `Did you mean '${meant}'?`,
  });
};

const count = (number: number, word: string): string =>
  `${number} ${word}${number === 1 ? '' : 's'}`;

const textReport = ({ findings, hosts, notes }: CheckReport): string => {
  const blocks = findings.map(finding => {
    const { severity, rule } = finding;
    const [first = '', ...rest] = findingText(finding).split('\n');
    const lines = [`${severity}: ${first} [${rule}]`, ...rest, ...hostLine(finding, hosts)];
    return `${lines.join('\n')}\n`;
  });
  const number = (severity: Severity): number =>
    findings.filter(one => one.severity === severity).length;
  const [errors, warnings, left] = [number('error'), number('warning'), number('note')];
  const total = [
    count(errors, 'error'),
    count(warnings, 'warning'),
    ...(left > 0 ? [count(left, 'note')] : []),
  ].join(', ');
  const lines = [...notes, `${count(hosts, 'host')} checked: ${total}.`];
  return [...blocks, `${lines.join('\n')}\n`].join('\n');
};

/** Formats the hosts that have a finding, unless all of them do. */
const hostLine = ({ hosts }: HostFinding, all: number): string[] => {
  if (hosts.length === 0 || (hosts.length === all && all > 1)) return [];
  const shown = hosts.slice(0, 8).join(', ');
  const more = hosts.length > 8 ? ` and ${hosts.length - 8} more` : '';
  return [`  ${hosts.length === 1 ? 'host' : 'hosts'}: ${shown}${more}`];
};

const jsonReport = ({ findings, hosts, notes }: CheckReport): PlainDict => ({
  hosts,
  notes: [...notes],
  findings: findings.map(({ rule, severity, message, at, hint, hosts: who }) => ({
    rule,
    severity,
    message,
    ...(at ? { file: at.file, line: at.line ?? null, column: at.column ?? null } : {}),
    ...(hint === undefined ? {} : { hint }),
    hosts: [...who],
  })),
});

/** The path of a file below the working folder, as annotations need it. */
const uriOf = (file: string): string => relative(process.cwd(), file).replaceAll('\\', '/') || '.';

const withHosts = ({ message, hint, hosts }: HostFinding): string => {
  const who = hosts.length === 0 ? '' : `Hosts: ${hosts.slice(0, 20).join(', ')}`;
  return [message, hint, who].filter(Boolean).join('\n');
};

const sarifReport = ({ command, findings, version, rules }: CheckReport): PlainDict => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: `tsalt-ssh ${command}`,
          version,
          rules: [...new Set(findings.map(({ rule }) => rule))].map(id => ({
            id,
            shortDescription: { text: rules[id] ?? id },
          })),
        },
      },
      results: findings.map(finding => ({
        ruleId: finding.rule,
        level: finding.severity,
        message: { text: withHosts(finding) },
        locations: finding.at
          ? [
              {
                physicalLocation: {
                  artifactLocation: { uri: encodeURI(uriOf(finding.at.file)) },
                  region: {
                    startLine: finding.at.line ?? 1,
                    ...(finding.at.column === undefined ? {} : { startColumn: finding.at.column }),
                  },
                },
              },
            ]
          : [],
      })),
    },
  ],
});

/** Workflow commands: https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
const githubReport = ({ command, findings }: CheckReport): string =>
  findings
    .map(finding => {
      const { at, rule, severity } = finding;
      const properties = [
        ...(at ? [`file=${property(uriOf(at.file))}`] : []),
        ...(at?.line === undefined ? [] : [`line=${at.line}`]),
        ...(at?.column === undefined ? [] : [`col=${at.column}`]),
        `title=${property(`tsalt-ssh ${command}: ${rule}`)}`,
      ];
      const kind = severity === 'note' ? 'notice' : severity;
      return `::${kind} ${properties.join(',')}::${data(withHosts(finding))}\n`;
    })
    .join('');

const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/**
 * Makes one test case for each file, and one for findings without a position; errors are its
 * failures.
 */
const junitReport = ({ command, findings }: CheckReport): string => {
  const byFile = new Map<string, HostFinding[]>();
  for (const finding of findings) {
    const file = finding.at ? uriOf(finding.at.file) : 'project';
    byFile.set(file, [...(byFile.get(file) ?? []), finding]);
  }
  if (byFile.size === 0) byFile.set('project', []);
  const failed = [...byFile.values()].filter(list => list.some(isError)).length;
  const cases = [...byFile].map(([file, list]) => {
    const failures = list
      .filter(isError)
      .map(one => {
        const text = xml(findingText(one));
        return `      <failure type="${xml(one.rule)}" message="${xml(one.message)}">${text}</failure>\n`;
      })
      .join('');
    const others = list.filter(one => !isError(one)).map(findingText);
    const out =
      others.length > 0 ? `      <system-out>${xml(others.join('\n'))}</system-out>\n` : '';
    return `    <testcase classname="${command}" name="${xml(file)}">\n${failures}${out}    </testcase>\n`;
  });
  const suite = `  <testsuite name="tsalt-ssh ${command}" tests="${byFile.size}" failures="${failed}">\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suite}${cases.join('')}  </testsuite>\n</testsuites>\n`;
};

const isError = ({ severity }: HostFinding): boolean => severity === 'error';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** XML allows only three control characters. */
const xml = (text: string): string =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"\n]/g, char => escapes[char] ?? char);
