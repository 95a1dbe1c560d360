import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLab, labMissing } from '../helpers/lab.ts';
import { type LabProject, startLabProject } from '../helpers/lab-project.ts';

const missing = labMissing();
const lab = createLab(23);

describe.skipIf(missing !== undefined)(
  `a host whose sshd takes few at once${missing ? ` (${missing})` : ''}`,
  () => {
    let project: LabProject;
    const sh = (command: string): Promise<string> => lab.sh('few1', 'sh', '-c', command);
    const configure = async (line: string): Promise<void> => {
      // For one of the settings the first line counts, for the other the last.
      const files = '/etc/ssh/sshd_config.d/a-few.conf /etc/ssh/sshd_config.d/z-few.conf';
      await sh(`echo '${line}' | tee ${files} >/dev/null; systemctl restart ssh`);
      await sleep(500);
    };
    const ids = Array.from({ length: 20 }, (_, at) => `host${at + 1}`);

    beforeAll(async () => {
      project = await startLabProject(lab, { few1: {} });
      const login = { host: project.addresses.few1, priv: lab.key };
      const same = ids.map(id => [
        id,
        { ...login, user: 'root', thin_dir: `/var/tmp/tsalt-${id}`, node_bin: '/opt/node' },
      ]);
      project.write({
        'roster.yaml': JSON.stringify({
          root: { ...login, user: 'root' },
          sudo: { ...login, user: 'deploy', sudo: true },
          ...Object.fromEntries(same),
        }),
      });
    });
    afterAll(async () => {
      await project?.close();
    });

    test('MaxSessions 1: Node is brought to a fresh host, time after time', async () => {
      await configure('MaxSessions 1');
      for (const id of ['root', 'sudo', 'root', 'sudo']) {
        await sh('rm -rf /root/.cache /home/deploy/.cache');
        const { code, stdout, stderr } = await project.run(id, 'test.ping', '--out=json');
        expect(JSON.parse(stdout), stderr).toEqual({ [id]: true });
        expect(code).toBe(0);
      }
    }, 240_000);

    test('MaxStartups drops connections of twenty hosts at once: all are reached', async () => {
      // All twenty are this host: Node need not be brought twenty times.
      await sh('cp "$(ls -d /root/.cache/tsalt-ssh/node-* | head -n1)" /opt/node');
      await configure('MaxStartups 1:100:1');
      const args = ['-L', ids.join(','), 'test.ping', '--static', '--out=json', '-l', 'debug'];
      const { code, stdout, stderr } = await project.run(...args);
      expect(JSON.parse(stdout)).toEqual(Object.fromEntries(ids.map(id => [id, true])));
      expect(code).toBe(0);
      expect(stderr).toContain('no connection (connect-dropped), trying again');
    }, 240_000);
  },
);
