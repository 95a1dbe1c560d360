import type { LintRule } from './rule.ts';
import { commandRules } from './rules/commands.ts';
import { fileRules } from './rules/files.ts';
import { packageRules } from './rules/packages.ts';
import { requisiteRules } from './rules/requisites.ts';
import { secretRules } from './rules/secrets.ts';

/** All rules about single states, by their IDs. */
export const lintRules: ReadonlyMap<string, LintRule> = new Map(
  [...commandRules, ...fileRules, ...secretRules, ...packageRules, ...requisiteRules].map(rule => [
    rule.id,
    rule,
  ]),
);
