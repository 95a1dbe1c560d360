import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { wrapperModules } from '../../../src/wrapper/table.ts';

/** The first six positional parameters of Salt 3006.9's execution functions, by file and function. */
const salt = JSON.parse(
  readFileSync(new URL('../../bundle/salt-positions.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, string>>;

/** Functions with a different order for a reason; their other arguments are passed by name. */
const other: Readonly<Record<string, string>> = {
  'archive.rar': 'refused',
  'archive.unrar': 'refused',
  'cmd.powershell': 'refused',
  'cmd.powershell_all': 'refused',
  'cmd.run_bg': 'takes the arguments of cmd.run in their order',
  'cp.recv_chunked': 'refused',
  'docker.create': 'settings of a container go by name',
  'docker.create_network': 'settings of a network go by name',
  'docker.run_container': 'settings of a container go by name',
  'git.is_worktree': 'takes ignore_retcode as the others',
  'x509.create_certificate': "path first, as in Salt's older x509, and the rest by name",
  'x509.create_crl': "path first, as in Salt's older x509, and the rest by name",
  'x509.create_csr': "path first, as in Salt's older x509, and the rest by name",
  'x509.create_private_key': "path first, as in Salt's older x509, and the rest by name",
  'x509.get_public_key': 'there are no objects of Python',
  'x509.get_signing_policy': 'there is no ca_server',
};

test('a second word of the command line means what it means in Salt', () => {
  const wrong = [...builtinMetadata(), ...wrapperModules()]
    .filter(({ kind }) => kind === 'exec')
    .flatMap(({ file, functions }) =>
      functions.flatMap(({ name, signature }) => {
        const wanted = salt[file]?.[name];
        const { positional, keywords = [], rest, anyKeyword } = signature;
        const isOpen = rest !== undefined || (positional.length === 0 && anyKeyword);
        if (wanted === undefined || isOpen || `${file}.${name}` in other) return [];
        const names = wanted.split(' ');
        const ours = [...positional, ...keywords]
          .slice(0, names.length)
          // A name that TypeScript reserves has a line behind it.
          .map(param => param.name.replace(/_$/, ''));
        return ours.join(' ') === wanted
          ? []
          : [`${file}.${name}: ${ours.join(' ')}, in Salt ${wanted}`];
      }),
    );
  expect(wrong).toEqual([]);
});
