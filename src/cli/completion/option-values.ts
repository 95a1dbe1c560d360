import { outputNames } from '../../output/format.ts';
import type { OptionName } from '../options.ts';

/**
 * Describes the values of options: a list is offered, `files` and `folders` are completed by the
 * shell, and nothing is offered for `text`. Options that are not listed here take files.
 */
export const optionValues: Readonly<
  Partial<Record<OptionName, 'files' | 'folders' | 'text' | readonly string[]>>
> = {
  delimiter: 'text',
  'max-procs': 'text',
  batch: 'text',
  'batch-wait': 'text',
  guard: 'text',
  timeout: 'text',
  jid: 'text',
  'no-parse': 'text',
  user: 'text',
  port: 'text',
  'passwd-from': ['env:', 'file:', 'fd:', 'command:', 'prompt'],
  'priv-passwd-from': ['env:', 'file:', 'fd:', 'command:', 'prompt'],
  'sudo-passwd-from': ['env:', 'file:', 'fd:', 'command:', 'prompt'],
  'ssh-option': 'text',
  'remote-port-forwards': 'text',
  'keepalive-interval': 'text',
  'keepalive-count-max': 'text',
  roster: [
    'flat',
    'dir',
    'ansible',
    'sshconfig',
    'sshknownhosts',
    'terraform',
    'script',
    'module',
    'scan',
  ],
  'trust-owner': 'text',
  'scan-ports': 'text',
  'scan-timeout': 'text',
  out: outputNames,
  'out-indent': 'text',
  'state-output': [
    'full',
    'terse',
    'mixed',
    'changes',
    'filter',
    'full_id',
    'terse_id',
    'mixed_id',
    'changes_id',
    'filter_id',
  ],
  'state-verbose': ['True', 'False'],
  'log-level': [
    'quiet',
    'critical',
    'error',
    'warning',
    'info',
    'profile',
    'debug',
    'trace',
    'all',
  ],
  'log-file-level': [
    'quiet',
    'critical',
    'error',
    'warning',
    'info',
    'profile',
    'debug',
    'trace',
    'all',
  ],
};
