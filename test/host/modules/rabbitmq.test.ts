import { beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';

const modules = {
  users: 'src/modules/rabbitmq/exec/rabbitmq/users.ts',
  vhosts: 'src/modules/rabbitmq/exec/rabbitmq/vhosts.ts',
  policies: 'src/modules/rabbitmq/exec/rabbitmq/policies.ts',
  node: 'src/modules/rabbitmq/exec/rabbitmq/node.ts',
  upstreams: 'src/modules/rabbitmq/exec/rabbitmq/upstreams.ts',
  user: 'src/modules/rabbitmq/states/rabbitmq_user.ts',
  vhost: 'src/modules/rabbitmq/states/rabbitmq_vhost.ts',
  policy: 'src/modules/rabbitmq/states/rabbitmq_policy.ts',
  plugin: 'src/modules/rabbitmq/states/rabbitmq_plugin.ts',
  upstream: 'src/modules/rabbitmq/states/rabbitmq_upstream.ts',
  cluster: 'src/modules/rabbitmq/states/rabbitmq_cluster.ts',
};

// Below the ports that the system gives to connections.
const port = 14_000 + (process.pid % 6000);

/** Starts a separate server; `settle` predicts a state, applies it, and applies it again. */
const start = `
  import { spawn } from 'node:child_process';
  import { connect } from 'node:net';
  import { setTimeout } from 'node:timers/promises';
  import { commandLines } from ${JSON.stringify(new URL('../../helpers/command-lines.ts', import.meta.url).pathname)};
  Object.assign(process.env, {
    RABBITMQ_NODENAME: 'tsalt@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: '${port}',
    RABBITMQ_DIST_PORT: '${port + 6000}',
    ERL_EPMD_PORT: '${port + 12_000}',
  });
  spawn('rabbitmq-server', [], { stdio: 'ignore' });
  const startOther = () => spawn('rabbitmq-server', [], {
    stdio: 'ignore',
    env: {
      ...process.env,
      RABBITMQ_NODENAME: 'tsalt2@localhost',
      RABBITMQ_NODE_PORT: '${port + 1}',
      RABBITMQ_DIST_PORT: '${port + 6001}',
    },
  });
  const rabbitmq = { ...users, ...vhosts, ...policies, ...node, ...upstreams };
  const real = contextOf({ rabbitmq });
  const tell = (name, work) => step(name, work, real);
  const settle = (name, work) => thrice(name, work, real);
  // Each rabbitmqctl starts an Erlang machine: checking the port is faster.
  const isUp = (port = ${port}) => new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => { socket.destroy(); resolve(true); });
    socket.on('error', () => resolve(false));
  });
  for (let tries = 0; tries < 600 && !(await isUp()); tries += 1) await setTimeout(500);
  // This very text is in arguments, too, so the search must not find itself.
  const words = { add: ['add', 'user'].join('_'), secret: ['hush', 'hush'].join('-') };
  const seen = { add: false, secret: false };
  const watch = setInterval(() => {
    const all = commandLines().join('\\n');
    for (const [what, word] of Object.entries(words)) seen[what] ||= all.includes(word);
  }, 20);
`;

describe.skipIf(!which('rabbitmqctl') || !canRunApart())(
  'a real RabbitMQ',
  { timeout: 240_000 },
  () => {
    let told: Record<string, { comment?: string; changes?: unknown } & object>;
    const expectDone = (name: string, changes: object): void => {
      expect(told[name], JSON.stringify(told[name])).toMatchObject({ result: true });
      expect(told[name]).toHaveProperty('changes', changes);
    };
    const expectSettled = (name: string, changes: object): void => {
      expect(told[`${name} told`], name).toMatchObject({ result: null });
      expectDone(name, changes);
      expect(told[`${name} told`]).toHaveProperty('changes', changes);
      expect(told[`${name} again`], name).toMatchObject({ result: true });
      expect(told[`${name} again`]).toHaveProperty('changes', {});
    };

    beforeAll(async () => {
      told = (await runApart(
        modules,
        `${start}
        await settle('vhost', () => vhost.present('shop $(id)'));
        const ann = {
          password: ['hush', 'hush-1'].join('-'),
          tags: ['monitoring', 'management'],
          perms: [{ '/': ['^a$', '', '.*'] }, { 'shop $(id)': ['.*', '.*', '.*'] }],
        };
        await settle('user', () => user.present('ann', ann));
        await tell('wrong', () => users.check_password('ann', 'wrong'));
        ann.password = ['hush', 'hush-2'].join('-');
        ann.tags = [];
        ann.perms = [{ '/': ['', '', ''] }];
        await tell('changed', () => user.present('ann', ann));
        await tell('bob', () => user.present('bob'));
        await tell('bob present', () => user.present('bob'));
        await tell('users', () => users.list_users());
        await tell('permissions', () => vhosts.list_permissions('shop $(id)'));
        const ttl = { priority: 2, apply_to: 'queues', vhost: 'shop $(id)' };
        await settle('policy', () => policy.present('ttl', '^t\\\\.', '{"message-ttl": 60000}', ttl));
        await tell('same', () => policy.present('ttl', '^t\\\\.', { 'message-ttl': 60000 }, ttl));
        await tell('policies', () => policies.list_policies('shop $(id)'));
        await tell('bad policy', () => policy.present('bad', '^t', '{no', ttl));
        await tell('no policy', () => policy.absent('ttl', { vhost: 'shop $(id)' }));
        await tell('no user', () => user.absent('bob'));
        await settle('no vhost', () => vhost.absent('shop $(id)'));
        await tell('queues', () => node.list_queues());
        await tell('enabled before', () => node.list_enabled_plugins());
        await settle('plugin', () => plugin.enabled('rabbitmq_shovel'));
        await tell('no plugin', () => plugin.disabled('rabbitmq_shovel'));
        await tell('no such', () => plugin.enabled('rabbitmq_wings'));
        await tell('no federation', () => upstream.present('up', 'amqp://127.0.0.1'));
        await tell('federation', () => plugin.enabled('rabbitmq_federation'));
        const uri = 'amqp://ann:' + ['hush', 'hush-3'].join('-') + '@127.0.0.1 amqp://localhost';
        const link = { ack_mode: 'on-publish', max_hops: 2, trust_user_id: false };
        await settle('upstream', () => upstream.present('up $(id)', uri, link));
        link.max_hops = 3;
        link.expires = 60000;
        await tell('other upstream', () => upstream.present('up $(id)', uri, link));
        await tell('upstreams', () => upstreams.list_upstreams());
        await tell('no upstream', () => upstream.absent('up $(id)'));
        await tell('bad upstream', () => upstream.present('up', uri, { ack_mode: 'never' }));
        await tell('bad URI', () => upstream.present('up', uri.replace(' ', ' x') + ':x:'));
        await tell('alone', () => cluster.joined('x', 'localhost', { user: 'tsalt' }));
        await tell('nobody', () => cluster.joined('x', 'localhost', { user: 'tsal' }));
        startOther();
        for (let tries = 0; tries < 600 && !(await isUp(${port + 1})); tries += 1) await setTimeout(500);
        await settle('cluster', () => cluster.joined('x', 'localhost', { user: 'tsalt2', ram_node: true }));
        await tell('status', () => node.cluster_status());
        clearInterval(watch);
        told.seen = seen;`,
        ['/var'],
        600,
      )) as typeof told;
    }, 600_000);

    test('virtual hosts and policies come, change and go', () => {
      expectSettled('vhost', { old: '', new: 'shop $(id)' });
      const ttl = {
        pattern: '^t\\.',
        definition: '{"message-ttl":60000}',
        priority: 2,
        apply_to: 'queues',
      };
      expectSettled('policy', { old: '', new: ttl });
      expect(told.same).toMatchObject({ changes: {} });
      expect(told.policies).toEqual({ 'shop $(id)': { ttl } });
      expect(told['bad policy']).toMatchObject({ result: false });
      expectDone('no policy', { old: 'ttl', new: '' });
      expectSettled('no vhost', { old: 'shop $(id)', new: '' });
    });

    test('users have the password, tags and permissions they are given', () => {
      expectSettled('user', {
        user: { old: '', new: 'ann' },
        tags: { old: [], new: ['management', 'monitoring'] },
        perms: {
          old: {},
          new: { '/': ['^a$', '', '.*'], 'shop $(id)': ['.*', '.*', '.*'] },
        },
      });
      expect(told.wrong).toBe(false);
      expectDone('changed', {
        password: { old: '', new: 'Set password.' },
        tags: { old: ['management', 'monitoring'], new: [] },
        perms: {
          old: { '/': ['^a$', '', '.*'], 'shop $(id)': ['.*', '.*', '.*'] },
          new: { '/': ['', '', ''] },
        },
      });
      expect(told.bob).toMatchObject({ changes: { user: { old: '', new: 'bob' } } });
      expect(told['bob present']).toMatchObject({ comment: "User 'bob' is already present." });
      expect(told.users).toEqual({ guest: ['administrator'], ann: [], bob: [] });
      expect(told.permissions).toEqual({ ann: ['.*', '.*', '.*'] });
      expectDone('no user', { name: { old: 'bob', new: '' } });
    });

    test('plugins are enabled and disabled, and an unknown one is reported', () => {
      expect(told.queues).toEqual({});
      expect(told['enabled before']).not.toContain('rabbitmq_shovel');
      expectSettled('plugin', { old: '', new: 'rabbitmq_shovel' });
      expectDone('no plugin', { old: 'rabbitmq_shovel', new: '' });
      expect(told['no such']).toMatchObject({ result: false });
      expect(told['no such']?.comment).toContain('rabbitmq_wings');
    });

    test('upstreams of federation are added, changed and removed, and show no password', () => {
      expect(told['no federation']).toMatchObject({ result: false });
      expect(told['no federation']?.comment).toContain('federation-upstream');
      const uri = ['amqp://<redacted>@127.0.0.1', 'amqp://localhost'];
      expectSettled('upstream', {
        old: null,
        new: { uri, 'ack-mode': 'on-publish', 'max-hops': 2 },
      });
      expectDone('other upstream', {
        old: { 'max-hops': 2 },
        new: { 'max-hops': 3, expires: 60_000 },
      });
      const { 'up $(id)': text = '{}' } = told.upstreams as Record<string, string>;
      expect(JSON.parse(text)).toEqual({
        uri: ['amqp://ann:hush-hush-3@127.0.0.1', 'amqp://localhost'],
        'ack-mode': 'on-publish',
        'max-hops': 3,
        expires: 60_000,
      });
      expectDone('no upstream', { old: 'up $(id)', new: null });
      expect(told['bad upstream']).toMatchObject({ result: false, changes: {} });
      expect(told['bad URI']).toMatchObject({ result: false, changes: {} });
      expect(told['bad URI']?.comment).toContain('not a valid URI');
      expect(JSON.stringify(told['bad URI'])).not.toContain('hush');
      expect(JSON.stringify(told['bad upstream'])).not.toContain('hush');
    });

    test('a node joins the cluster of another one', () => {
      expect(told.alone).toMatchObject({ result: true, comment: 'Already in cluster' });
      expect(told.nobody).toMatchObject({ result: false, changes: {} });
      expectSettled('cluster', { old: '', new: 'tsalt2@localhost' });
      expect(told['cluster again']).toMatchObject({ comment: 'Already in cluster' });
      expect(told.status).toMatch(/RAM Nodes\S*\s+tsalt@localhost/);
    });

    test('no password is in the arguments of a process', () => {
      expect(told.seen).toEqual({ add: true, secret: false });
    });
  },
);
