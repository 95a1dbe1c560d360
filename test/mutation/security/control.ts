import { type Breakage, killedBy } from '../breakage.ts';

/** Guards on the control node. */
export const control: readonly Breakage[] = [
  ...killedBy(
    'test/host/integration/prompt/host-options.test.ts',
    'a host gets the options of modules and those that it is to have, no other ones',
    [
      {
        file: 'src/control/facts/host-opts.ts',
        find: "name.includes('.') || hostOptions.includes(name);",
        replace: 'true;',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/control/apart.test.ts',
    'templates without an end, of as many hosts as there are processes, are ended; another host gets its own',
    [
      {
        file: 'src/control/apart/children.ts',
        find: 'if (milliseconds > mostTime)',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/control/apart.test.ts',
    'a template that waits for its host keeps no process from others, and asks for nothing twice',
    [
      {
        file: 'src/control/apart/children.ts',
        find: 'if (idle || all.length + this.#starting < poolSize) return idle;',
        replace: 'return idle;',
      },
      {
        file: 'src/control/apart/children.ts',
        find: 'if (known?.key === key) return known;',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/control/apart.test.ts',
    'one template of a host is rendered at a time; after three that took too much, none',
    [
      {
        file: 'src/control/apart/host-work.ts',
        find: 'if (this.#ended >= mostEnded)',
        replace: 'if (false)',
      },
      {
        file: 'src/control/apart/host-work.ts',
        find: 'const mine = this.#turn.then(async () => {',
        replace: 'const mine = Promise.resolve().then(async () => {',
      },
    ],
  ),
  ...killedBy(
    'test/host/control/apart.test.ts',
    'the texts of one host take a bounded time together, each of them being short',
    [
      {
        file: 'src/control/apart/host-work.ts',
        find: 'this.#milliseconds += milliseconds;',
        replace: 'void milliseconds;',
      },
    ],
  ),
  ...killedBy(
    'test/host/control/apart.test.ts',
    'a template that begins again for each answer takes no more time in all',
    [
      {
        file: 'src/control/apart/children.ts',
        find: 'before + milliseconds > most',
        replace: 'milliseconds > most',
      },
    ],
  ),
  ...killedBy(
    'test/host/integration/hostile/hostile-costs.test.ts',
    'a template gets no answer of very many values',
    [
      {
        file: 'src/control/serve/host-calls.ts',
        find: 'if (characters === undefined) throw tooManyValues(fun);',
        replace: 'if (characters === undefined) return null;',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/integration/hostile/hostile-costs.test.ts',
    'all answers that templates get are bounded together',
    [
      {
        file: 'src/control/serve/host-calls.ts',
        find: 'if (this.#characters > mostTogether) throw',
        replace: 'if (false) throw',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/render/taint/growth.test.ts',
    'a text of unknown origin is tainted as a whole where a host sent %s',
    [
      {
        file: 'src/render/taint/taint-table.ts',
        find: "if (left < 0) return wholeRange(text, 'data');",
        replace: '',
      },
      {
        file: 'src/render/taint/taint-table.ts',
        find: 'if (found.length > mostParts) return',
        replace: 'if (false) return',
      },
    ],
  ),
  ...killedBy('test/unit/data/merge.test.ts', 'a list is merged in time that grows with its %s', [
    {
      file: 'src/data/values/merge.ts',
      find: 'if (!isTree([...list]))',
      replace: 'if (true)',
    },
  ]),
  ...killedBy(
    'test/host/control/apart.test.ts',
    'a host whose run is over has nothing computed any more',
    [
      {
        file: 'src/control/apart/children.ts',
        find: "signal.addEventListener('abort', cancel, { once: true });",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/control/apart.test.ts',
    'a template that asks for more than it may is refused',
    [
      {
        file: 'src/control/apart/children.ts',
        find: 'key.length > mostArguments || run.size > mostAsked',
        replace: 'run.size > mostAsked',
      },
    ],
  ),
  ...killedBy(
    'test/host/control/apart.test.ts',
    'a document of a host is read in the same way, and its aliases make no more of it',
    [
      {
        file: 'src/control/apart/child.ts',
        find: 'if (left.values < 0) throw',
        replace: 'if (false) throw',
      },
    ],
  ),
  ...killedBy(
    'test/host/integration/hostile/trust.test.ts',
    '%s that every user can write is not used',
    [
      {
        file: 'src/trust/check.ts',
        find: "return isOpen && !isSticky ? 'mode' : undefined;",
        replace: 'return undefined;',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/integration/hostile/trust.test.ts',
    '%s of another user is not used',
    [
      {
        file: 'src/trust/check.ts',
        find: "if (!owners().uids.has(stat.uid)) return 'owner';",
        replace: '',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/integration/hostile/trust.test.ts',
    'log and output files of other users, and their links, are not written to',
    [
      {
        file: 'src/trust/check.ts',
        find: "throw untrusted(path, what, { path: resolve(path), stat, why: 'owner' });",
        replace: 'return;',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/integration/hostile/trust.test.ts',
    'neither the cache nor the file of known hosts is in a folder of another user',
    [
      {
        file: 'src/bundle/private-dir.ts',
        find: "checkTrusted(path, 'The cache folder');",
        replace: '',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/sdb/sdb.test.ts',
    'a key that begins with a dash never becomes an option of the program',
    [
      {
        file: 'src/sdb/drivers/cmd.ts',
        find: "if (key.startsWith('-') && at >= 0 && (end < 0 || end > at))",
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/sdb/sdb.test.ts',
    'pillar files are resolved, an address that the host said is not',
    [
      {
        file: 'src/sdb/sdb.ts',
        find: 'return allowed(data) ? this.get(data) : data;',
        replace: 'return this.get(data);',
      },
    ],
  ),
  ...killedBy('test/host/sdb/sdb.test.ts', 'errors show neither token nor value', [
    {
      file: 'src/sdb/vault.ts',
      find: 'could not be asked (${typeof',
      replace: 'could not be asked ${JSON.stringify(options.headers)} (${typeof',
    },
  ]),
  ...killedBy('test/host/sdb/sdb.test.ts', 'a fault names the address, never what was printed', [
    {
      file: 'src/sdb/drivers/cmd.ts',
      find: 'ended with ${code}`',
      replace: 'ended with ${code}: ${String(output)}`',
    },
    {
      file: 'src/sdb/drivers/cmd.ts',
      find: "stdio: ['pipe', 'pipe', 'ignore'],",
      replace: "stdio: ['pipe', 'pipe', 'inherit'],",
    },
  ]),
  ...killedBy(
    'test/unit/roster/backends.test.ts',
    'a terraform state cannot reach this machine by %s',
    [
      {
        file: 'src/roster/outside.ts',
        find: '...local.filter(name => dict.has(name)),',
        replace: '',
      },
      {
        file: 'src/roster/outside.ts',
        find: "...(outside === 'state' ? here(dict) : []),",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/unit/roster/backends.test.ts',
    'an address of sdb that came from outside stays text',
    [{ file: 'src/roster/load.ts', find: 'if (outside) return entry;', replace: '' }],
  ),
  ...killedBy(
    'test/unit/fileserver/file-roots.test.ts',
    'nothing outside of the roots is ever found',
    [
      {
        file: 'src/fileserver/file-finder.ts',
        find: 'if (!isWithinRoot(root, real)) return undefined;',
        replace: '',
      },
    ],
  ),
  ...killedBy('test/host/bundle/zip.test.ts', 'an archive cannot write outside of its folder', [
    { file: 'src/bundle/zip.ts', find: 'checkName(name);', replace: '' },
  ]),
  ...killedBy(
    'test/host/bundle/reproducible.test.ts',
    'a tree has one artifact wherever it lies, and no folder of this machine is in it',
    [{ file: 'src/bundle/portable-path.ts', find: 'return kept;', replace: 'return whole;' }],
  ),
  ...killedBy(
    'test/unit/control/pushed-files.test.ts',
    '%s is refused before anything is written',
    [{ file: 'src/control/serve/pushed-files.ts', find: "part !== '..' &&", replace: '' }],
  ),
  ...killedBy(
    'test/unit/control/pushed-files.test.ts',
    'nothing is taken unless file_recv says so, and nothing larger than file_recv_max_size',
    [
      {
        file: 'src/control/serve/pushed-files.ts',
        find: 'return size > most ?',
        replace: 'return false ?',
      },
    ],
  ),
  ...killedBy('test/unit/output/format.test.ts', 'large results of a host break no outputter', [
    { file: 'src/output/nested.ts', find: 'if (layout.size > longest)', replace: 'if (false)' },
  ]),
  ...killedBy(
    'test/unit/control/hosts-may.test.ts',
    'a function that a state calls takes the texts of that state, and those only',
    [
      {
        file: 'src/control/serve/host-functions.ts',
        find: "if (!texts?.has(text)) throw refused(fun, 'is not called so by a state of this run');",
        replace: '',
      },
    ],
  ),
  ...killedBy('test/unit/control/said-events.test.ts', 'fields that no event has are left out', [
    {
      file: 'src/control/serve/reported-events.ts',
      find: '...(event === undefined ? {} : { event }),',
      replace: '...(said as object),',
    },
    {
      file: 'src/control/serve/reported-events.ts',
      find: 'return { level, module, message,',
      replace: 'return { ...said, level, module, message,',
    },
  ]),
  ...killedBy(
    'test/host/integration/hostile/hostile-calls.test.ts',
    'options that a host receives have no path of the control node',
    [
      {
        file: 'src/control/host/wrapper-context.ts',
        find: 'opts: optsForHost(parts.facts),',
        replace: '',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/integration/hostile/hostile-calls.test.ts',
    'a host lists what lies below the folders that its job names',
    [
      {
        file: 'src/control/host/wrapper-context.ts',
        find: 'paths.filter(path => refs.allows(path, saltenv));',
        replace: '[...paths];',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/unit/control/file-refs.test.ts',
    'contents that hold what the host sent are rendered confined, and by no engine that runs code',
    [
      {
        file: 'src/control/serve/render-refs.ts',
        find: 'texts: new Set(texts.filter(text => !this.#taintOf(text)).map(textHash)),',
        replace: 'texts: new Set(texts.map(textHash)),',
      },
      {
        file: 'src/control/serve/render-refs.ts',
        find: "return sandboxed.includes(template) ? { request, trust: 'confined' } : { request };",
        replace: "return { request, trust: 'confined' };",
      },
    ],
  ),
  ...killedBy(
    'test/host/integration/hostile/hostile-templates.test.ts',
    'a template of the host reads no file of the roots and calls nothing that the host could not ask for',
    [
      {
        file: 'src/control/serve/host-templates.ts',
        find: 'if (isControlFunction(fun)) return this.#functions.call(fun, args, kwargs);',
        replace: 'return this.#calls.call(fun, args, kwargs);',
      },
      {
        file: 'src/control/serve/host-templates.ts',
        find: "trust === 'confined'",
        replace: 'trust === undefined',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/sdb/sdb.test.ts',
    'nor one that %s made of more pieces, or of pieces and its own words',
    [
      {
        file: 'src/control/pillar/host-pillar.ts',
        find: '!isTainted(uri) && ',
        replace: '(isTainted(uri) || true) && ',
      },
    ],
  ),
  ...killedBy(
    'test/unit/control/file-refs.test.ts',
    'a path in %s of a built-in state names no file',
    [
      {
        file: 'src/control/serve/file-refs.ts',
        find: "if (from === 'data') return;",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/unit/control/file-refs.test.ts',
    'a host chooses a name within the path of a source only, unless a module of the user may be behind it',
    [
      {
        file: 'src/control/serve/file-refs.ts',
        find: "if (!ranges || (from === 'source' && choosesOnlyNames(value, ranges))) urls.add(value);",
        replace: 'if (!ranges || choosesOnlyNames(value, ranges)) urls.add(value);',
      },
    ],
  ),
  ...killedBy(
    'test/unit/control/file-refs.test.ts',
    'a template that a user module computed is rendered confined, and only if there is such a module',
    [
      {
        file: 'src/control/serve/file-requests.ts',
        find: 'if (!computes() || !sandboxed.includes(request.template))',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/unit/control/file-refs.test.ts',
    'file.getMany: one path the job does not name ends the run of the host',
    [
      {
        file: 'src/control/serve/many-files.ts',
        find: 'allowed(name, saltenv);',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/integration/hostile/hostile-files.test.ts',
    'a host fetches each file from the saltenv that its job names it in',
    [
      {
        file: 'src/control/serve/file-refs.ts',
        find: 'this.#named.get(path)?.has(env) === true',
        replace: 'this.#named.has(path)',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/unit/control/file-refs.test.ts',
    'a template has the variables of its own state, whatever other states have',
    [
      {
        file: 'src/protocol/render-identity.ts',
        find: ', ownVariables(context)]);',
        replace: ']);',
      },
    ],
  ),
  ...killedBy(
    'test/unit/protocol/peer.test.ts',
    'a stranger has a bounded number of requests open, and says more of nothing',
    [
      {
        file: 'src/protocol/peer.ts',
        find: 'if (this.#answering.size > limits.requests)',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/protocol/parse-yielding.test.ts',
    'while 60 MB are parsed, other work waits for no more than 100 ms',
    [
      {
        file: 'src/protocol/turns.ts',
        find: 'if (!this.areOver) return;',
        replace: 'if (this) return;',
      },
    ],
  ),
  ...killedBy(
    'test/host/integration/hostile/hostile-costs.test.ts',
    'a host that sends %s ends its own run only',
    [
      {
        file: 'src/protocol/message.ts',
        find: "if (t !== ('evt' as string) && !isRequestId(id))",
        replace: 'if (false)',
      },
      {
        file: 'src/protocol/parse-yielding.ts',
        find: 'if (this.#limits && this.#keys.length > this.#limits.depth)',
        replace: 'if (this.#limits && this.#keys.length < 0)',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/unit/queue/messages.test.ts',
    'a repeated message does not count as a sign of life',
    [
      {
        file: 'src/queue/messages.ts',
        find: 'if (sequence < this.#next) return [];',
        replace: 'if (sequence < this.#next) { this.#heard = Date.now(); return []; }',
      },
    ],
  ),
  ...killedBy(
    'test/host/queue/blobs.test.ts',
    'a file that another worker replaced, who has the key as well, is refused',
    [
      {
        file: 'src/queue/blobs.ts',
        find: 'if (blobName(key, sha256) !== name)',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/unit/control/worker-questions.test.ts',
    'a worker elsewhere asks the person in its own name, for its hosts, and not without end',
    [
      {
        file: 'src/control/fleet/worker-questions.ts',
        find: 'if (about.asked > mostQuestions)',
        replace: 'if (false)',
      },
      {
        file: 'src/control/fleet/worker-questions.ts',
        find: "`The worker of ${via ?? 'another machine'} asks for ${id}: ${readable(prompt, 200)} `",
        replace: 'prompt',
      },
    ],
  ),
  ...killedBy(
    'test/unit/control/worker-questions.test.ts',
    'a worker elsewhere lays nothing over the pillar that the command line does not',
    [
      {
        file: 'src/control/fleet/worker-runs.ts',
        find: 'if (worker.isElsewhere) checkOverride(question.settings, request);',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/unit/control/worker-questions.test.ts',
    'an event of a worker elsewhere with %s ends its own host, by name',
    [
      {
        file: 'src/control/fleet/worker-runs.ts',
        find: 'worker.isElsewhere ? this.#read(worker, message) : eventOf(message)',
        replace: 'eventOf(message)',
      },
      {
        file: 'src/control/fleet/worker-events.ts',
        find: 'if (depth > deepest) return false;',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/integration/orchestrate/mine.test.ts',
    'a host that never answers holds up nobody: reached by %s',
    [
      {
        file: 'src/control/fleet/host-mine.ts',
        find: 'return await Promise.race([call, tooLate]);',
        replace: 'return await call;',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/unit/plan/plan-file.test.ts',
    'a plan of another function than one of states is refused when it is read',
    [
      {
        file: 'src/plan/read-plan.ts',
        find: 'if (!isOrchestration && !planFunctions.has(plan.call.fun))',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/unit/plan/plan-file.test.ts',
    'a host whose predictions are very long has no plan; the others have theirs',
    [
      {
        file: 'src/plan/collect.ts',
        find: 'return left < 0 ? undefined : predictions;',
        replace: 'return predictions;',
      },
    ],
  ),
  ...killedBy(
    'test/unit/returners/returners.test.ts',
    'a return that is refused does not take those of other hosts with it',
    [
      {
        file: 'src/returners/returners.ts',
        find: 'if (this.#refused > 1) this.#isBroken = true;',
        replace: 'this.#isBroken = true;',
      },
    ],
  ),
  ...killedBy(
    'test/host/queue/sealed-job.test.ts',
    'a worker cannot pass a ticket on to another one, whose messages it could then read',
    [
      {
        file: 'src/queue/tickets.ts',
        find: 'if (ticket.worker !== workerId(keys.publicKey))',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/queue/sealed-job.test.ts',
    'a job is opened by workers that have a ticket, and only if a known control node signed it',
    [
      {
        file: 'src/queue/tickets.ts',
        find: 'if (!isSigned(signedBytes(body), signature, controls))',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/queue/sealed-job.test.ts',
    'a ticket of another run is refused, and the right one is accepted after that',
    [
      {
        file: 'src/queue/tickets.ts',
        find: 'if (ticket.tickets !== name)',
        replace: 'if (false)',
      },
      {
        file: 'src/queue/sealed-job.ts',
        find: 'ticket.then(found => found ?? forget(), forget);',
        replace: 'ticket.catch(() => undefined);',
      },
    ],
  ),
  ...killedBy(
    'test/host/queue/sealed-job.test.ts',
    'the number of a job cannot be changed, nor taken from a job of another segment or run',
    [
      {
        file: 'src/queue/sealed-job.ts',
        find: 'const known = this.#batches.get(segment);',
        replace: 'const known = [...this.#batches.values()][0];',
      },
      {
        file: 'src/queue/sealed-job.ts',
        find: '[newTicketsName(), newKey()]',
        replace: '[newTicketsName(), Buffer.alloc(32)]',
      },
    ],
  ),
  ...killedBy('test/host/queue/sealed-job.test.ts', 'a job that has expired is refused', [
    {
      file: 'src/queue/sealed-job.ts',
      find: 'if (ticket.expires < Date.now())',
      replace: 'if (false)',
    },
  ]),
  ...killedBy(
    'test/host/integration/workers/queue-worker-identity.test.ts',
    'a worker can neither read nor forge the messages of another one of its segment',
    [
      {
        file: 'src/control/workers/run-keys.ts',
        find: 'const key = this.#keys.get(name) ?? newKey();',
        replace: 'const key = this.#keys.values().next().value ?? newKey();',
      },
      {
        file: 'src/queue/alive.ts',
        find: '.filter(key => workerId(key) === worker.worker);',
        replace: ';',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/integration/workers/queue-worker-identity.test.ts',
    'a worker whose key was removed has no host, and no file sent after that; the other one goes on',
    [
      {
        file: 'src/control/workers/sent-project.ts',
        find: "keyedName(seed, ['tsalt-ssh project', ...recipients.sort()]",
        replace: "keyedName(seed, ['tsalt-ssh project']",
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/integration/workers/queue-worker-identity.test.ts',
    'a job that a worker takes and keeps is offered again',
    [
      {
        file: 'src/control/workers/queued-workers.ts',
        find: 'if (now - waiting.seen > waiting.pause)',
        replace: 'if (false)',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/lsp/trust.test.ts',
    'lsp: runs nothing of a folder when $name',
    [
      {
        file: 'src/lsp/server.ts',
        find: 'if (this.#isTrusted !== undefined) return this.#isTrusted;',
        replace: '',
      },
      {
        file: 'src/lsp/server.ts',
        find: 'if (trust(root)) return true;',
        replace: 'return true;',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/host/lsp/trust.test.ts',
    'lsp: a trusted folder does not make trusted what has a similar name or is above it',
    [
      {
        file: 'src/cli/lsp/trusted-folders.ts',
        find: 'isInFolder(one, path)',
        replace: 'path.startsWith(one)',
      },
    ],
    { isBuilt: true },
  ),
];
