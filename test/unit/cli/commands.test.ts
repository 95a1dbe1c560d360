import { describe, expect, test } from 'vitest';
import { commands, commandUsage, namedCommand } from '../../../src/cli/commands.ts';
import { helpText } from '../../../src/cli/help-text.ts';
import { parseArguments } from '../../../src/cli/parse.ts';
import { protectRemoteCommand } from '../../../src/cli/remote-command-args.ts';

const isCommand = (...argv: string[]): boolean => namedCommand(parseArguments(argv)) !== undefined;

describe('commands', () => {
  test('are known by their first words', () => {
    expect(isCommand('module', 'new', 'exec', 'x')).toBe(true);
    expect(isCommand('node', 'fetch')).toBe(true);
  });

  test('leave calls on hosts alone', () => {
    expect(isCommand('module', 'test.ping')).toBe(false);
    expect(isCommand('web1', 'module', 'new')).toBe(false);
    expect(isCommand('-r', 'node', 'fetch')).toBe(false);
    expect(isCommand('--local', 'node', 'fetch')).toBe(false);
  });

  test('ssh keeps the options of the remote command', () => {
    const given = (...argv: string[]) => parseArguments(protectRemoteCommand(argv));
    expect(given('-l', 'debug', 'ssh', 'web1', 'ls', '-l')).toEqual({
      options: { 'log-level': 'debug' },
      words: ['ssh', 'web1', 'ls', '-l'],
    });
    expect(given('ssh', '--user', 'x', 'web1', '--', 'ls', '-l').words).toEqual(
      given('ssh', '--user', 'x', 'web1', 'ls', '-l').words,
    );
    expect(protectRemoteCommand(['web1', 'cmd.run', 'ssh', '-V'])).toEqual([
      'web1',
      'cmd.run',
      'ssh',
      '-V',
    ]);
  });

  test.each(Object.keys(commands))('"%s" names a host with -L and a function', name => {
    expect(isCommand(...name.split(' '))).toBe(true);
    expect(isCommand('-L', name.split(' ')[0] ?? '', 'test.ping')).toBe(false);
  });

  test.each(Object.entries(commands))(
    '--help shows "%s"',
    { tags: 'slow' },
    async (_, { usage, summary }) => {
      const line = `tsalt-ssh ${usage}`;
      expect(commandUsage()).toContain(line);
      expect(await helpText(100)).toContain(line);
      expect(commandUsage()).toContain(summary);
    },
  );
});
