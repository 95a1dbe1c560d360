import { commandUsage } from './commands.ts';
import { exitCodeHelp, precedence } from './exit-code.ts';
import { callUsage, commandLineParser } from './parse.ts';

/** The text of `--help`. */
export const helpText = async (columns: number): Promise<string> => {
  const exitCodes = exitCodeHelp.map(([code, words]) => `  ${String(code).padStart(3)}  ${words}`);
  const text = await commandLineParser([])
    .usage(`Usage: ${callUsage}\n${commandUsage()}`)
    .epilogue(
      [
        'Targets are ids of the roster, with * ? [ ] as wildcards; user@host:port, @local,',
        '@chroot/DIR, @docker/NAME and @podman/NAME need no roster.',
        '',
        `Exit codes (the first in the order ${precedence.join(' ')} where hosts differ):`,
        ...exitCodes,
        '',
        'Examples:',
        "  tsalt-ssh 'web*' state.apply              apply the states that top.sls assigns to each host",
        "  tsalt-ssh 'web*' state.apply nginx test=True   show what would change",
        '  tsalt-ssh -G os:Debian pkg.list_upgrades  a function, on hosts by a grain',
        "  tsalt-ssh -r '*' 'uptime; df -h'          a shell command",
        '  tsalt-ssh deploy@10.0.0.5:2222 test.ping  a host that is in no roster',
        "  tsalt-ssh '*' grains.items --out json --static | jq .",
      ].join('\n'),
    )
    .wrap(Math.min(100, columns))
    .getHelp();
  return `${text}\n`;
};
