/**
 * `npm run bench [-- NAME…] [--json]`: a table per bench, or one JSON object. `peers` also takes
 * `--runs=N`, `--only=WORKLOAD,…` and `--programs=NAME,…`, `session` `--runs=N`; `queue` takes `--hosts=N`, `--workers=N,…`,
 * `--states=N` and `--at-once=N`; `recurse` takes `--sizes=N,…` and `--runs=N`.
 */
type Result = { readonly table: string; readonly rows: readonly object[] };

const args = process.argv.slice(2);

/** The value of `--NAME=VALUE`. */
const option = (name: string): string | undefined =>
  args.find(arg => arg.startsWith(`--${name}=`))?.slice(name.length + 3);

const benches: Readonly<Record<string, () => Promise<Result>>> = {
  files: async () => (await import('./files.ts')).benchFiles(),
  states: async () => (await import('./states.ts')).benchStates(),
  transport: async () => (await import('./transport.ts')).benchTransport(),
  modules: async () => (await import('./modules.ts')).benchModules(),
  render: async () => (await import('./render.ts')).benchRender(),
  compile: async () => (await import('./compile.ts')).benchCompile(),
  peers: async () =>
    (await import('./peers.ts')).benchPeers({
      runs: option('runs') === undefined ? undefined : Number(option('runs')),
      only: option('only')?.split(','),
      programs: option('programs')?.split(','),
    }),
  session: async () =>
    (await import('./session.ts')).benchSession({
      runs: option('runs') === undefined ? undefined : Number(option('runs')),
    }),
  queue: async () =>
    (await import('./queue.ts')).benchQueue({
      hosts: Number(option('hosts') ?? 1000),
      states: Number(option('states') ?? 20),
      workers: (option('workers') ?? '1,4').split(',').map(Number),
      atOnce: Number(option('at-once') ?? 200),
    }),
  recurse: async () =>
    (await import('./recurse.ts')).benchRecurse({
      sizes: (option('sizes') ?? '1000,16000,100000').split(',').map(Number),
      runs: Number(option('runs') ?? 3),
    }),
  orchestrate: async () => (await import('./orchestrate.ts')).benchOrchestrate(),
};

const names = args.filter(arg => !arg.startsWith('-'));
const unknown = names.filter(name => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(
    `There is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}.`,
  );
  process.exit(64);
}
const json: Record<string, readonly object[]> = {};
for (const name of names.length > 0 ? names : Object.keys(benches)) {
  const result = await benches[name]?.();
  if (!result) continue;
  json[name] = result.rows;
  if (!args.includes('--json')) console.log(`\n${name}\n${result.table}`);
}
if (args.includes('--json')) console.log(JSON.stringify(json, null, 2));
