import { isSecretName } from '../../../data/secret-names.ts';
import type { LowChunk } from '../../../protocol/low.ts';
import { isPlainDict, type Plain } from '../../../protocol/plain.ts';
import {
  argumentText,
  hitLocation,
  isGiven,
  isOneOf,
  type LintHit,
  type LintRule,
  type LintRun,
} from '../rule.ts';

/** Whether a value is a reference to the secret, or empty. */
const isReference = (text: string): boolean =>
  text === '' || /^(sdb:\/\/|__slot__:|\$[0-9a-z]+\$|\{|!|\*+$|x+$)/i.test(text);

/** Returns the strings in an argument, by name. */
const named = (name: string, value: Plain | undefined): [string, string][] => {
  if (typeof value === 'string') return [[name, value]];
  if (Array.isArray(value)) return value.flatMap(item => named(name, item));
  if (!isPlainDict(value ?? null)) return [];
  return Object.entries(value as Record<string, Plain>).flatMap(([key, item]) => named(key, item));
};

const commandSecret =
  /(--?(password|passwd|pass|token|secret|api-key)[= ]\S|\b(PGPASSWORD|MYSQL_PWD|\w*(PASSWORD|TOKEN|SECRET))=\S|\s-p\S{4,})/;

/** Rules about secrets. */
export const secretRules: readonly LintRule[] = [
  {
    id: 'plain-secret',
    severity: 'warning',
    why: 'Everyone who can read the repository or its history has the secret. Keep it in an encrypted pillar or in an sdb store.',
    bad: 'db:\n  mysql_user.present:\n    - host: localhost\n    - password: hunter2\n',
    good: "#!jinja|yaml\ndb:\n  mysql_user.present:\n    - host: localhost\n    - password: {{ salt['pillar.get']('db:password', '') | json }}\n",
    find: (chunk, run) =>
      Object.entries(chunk).flatMap(([argument, value]): LintHit[] => {
        if (!/^[a-z]/.test(argument)) return [];
        const found = named(argument, value).find(
          ([name, text]) =>
            isSecretName(name) && !isReference(text) && isWritten(run, chunk, argument, name, text),
        );
        return found
          ? [{ message: `The secret '${found[0]}' is written in the SLS`, argument }]
          : [];
      }),
  },
  {
    id: 'missing-no-log',
    severity: 'warning',
    why: 'The command line is in the result, on the terminal and in logs. `no_log: true` hides what the state prints; the environment (`env`) also hides it from other users of the host.',
    bad: 'dump:\n  cmd.run:\n    - name: pg_dump --password=$(cat /root/pw) shop\n    - creates: /root/shop.sql\n',
    good: 'dump:\n  cmd.run:\n    - name: pg_dump --password=$(cat /root/pw) shop\n    - creates: /root/shop.sql\n    - no_log: true\n',
    find: chunk => {
      if (chunk.state !== 'cmd' || chunk.no_log === true) return [];
      if (commandSecret.test(argumentText(chunk.name)) && chunk.hide_output !== true)
        return [{ message: "A command with a secret needs 'no_log: true'", argument: 'name' }];
      const inEnv = named('', chunk.env).some(([name, text]) => isSecretName(name) && text !== '');
      return inEnv && chunk.hide_output !== true
        ? [{ message: "A command with a secret in 'env' needs 'no_log: true'", argument: 'env' }]
        : [];
    },
  },
  {
    id: 'password-not-hashed',
    severity: 'error',
    why: '`user.present` writes the password into /etc/shadow as it is: the login fails unless it is a hash, or `hash_password: true` makes one.',
    bad: '#!jinja|yaml\n{% set word = "hunter2" %}\ndeploy:\n  user.present:\n    - password: {{ word }}\n',
    good: '#!jinja|yaml\n{% set word = "hunter2" %}\ndeploy:\n  user.present:\n    - password: {{ word }}\n    - hash_password: true\n',
    find: chunk => {
      const password = argumentText(chunk.password);
      return isOneOf(chunk, ['user.present']) &&
        isGiven(chunk.password) &&
        chunk.hash_password !== true &&
        !/^(\$|[!*]|__slot__:|_|$)/.test(password)
        ? [{ message: "'password' is not a hash: add 'hash_password: true'", argument: 'password' }]
        : [];
    },
  },
];

/** How many lines below an argument its value is searched. */
const farthest = 60;

/** Whether a line of the file contains the name with this value: no template computes it. */
const isWritten = (
  run: LintRun,
  chunk: LowChunk,
  argument: string,
  name: string,
  text: string,
): boolean => {
  const at = hitLocation(chunk, argument);
  if (at?.line === undefined) return false;
  const lines = run.files.lines(at.file)?.slice(at.line - 1, at.line - 1 + farthest) ?? [];
  const [first = ''] = text.split('\n');
  return lines.some(
    line => line.includes(name) && line.includes(first.slice(0, 40)) && !/\{[{%]/.test(line),
  );
};
