import { type Breakage, killedBy } from '../breakage.ts';

/** Guards around what hosts send into templates. */
export const rendering: readonly Breakage[] = [
  ...killedBy(
    'test/host/yaml/taint-shape.test.ts',
    'any string: the data has the shape of a harmless one, or is refused',
    [
      {
        file: 'src/yaml/taint-check.ts',
        find: 'if (found === undefined || wanted === undefined || !this.#isSame(found, wanted))',
        replace: 'if (false)',
      },
      {
        file: 'src/yaml/taint-check.ts',
        find: 'if (isTouched(this.#ranges, start - 1, end)) this.#differs(start);',
        replace: '',
      },
      {
        file: 'src/yaml/taint-check.ts',
        find: 'this.#checkEscapes(start, end);',
        replace: 'void 0;',
      },
      {
        file: 'src/yaml/taint-check.ts',
        find: 'else if (actual.parsed || harmless.parsed)',
        replace: 'else if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/yaml/taint-shape.test.ts',
    'any %s, read in pieces: the data and taint of the whole text, or none',
    [
      {
        file: 'src/yaml/load-large.ts',
        find: 'return !taint || !isTouched(taint.ranges, line - 1, line + indent);',
        replace: 'return true;',
      },
      {
        file: 'src/yaml/load-large.ts',
        find: 'if (taint && isTouched(taint.ranges, 0, start)) return undefined;',
        replace: '',
      },
      {
        file: 'src/yaml/load-large.ts',
        find: 'known ?? (yield* this.#checked(start, end)) ?? parsePiece',
        replace: 'known ?? parsePiece',
      },
      {
        file: 'src/yaml/load-tree.ts',
        find: 'if (source.taint || source.tags) return {};',
        replace: 'if (source.tags) return {};',
      },
    ],
  ),
  ...killedBy(
    'test/unit/render/taint/refusals.test.ts',
    'jinja: what the host sends does not change the structure of %s',
    [
      {
        file: 'src/render/jinja/run/taint.ts',
        find: 'if (onlySelects(fun)) return;',
        replace: 'return;',
      },
      {
        file: 'src/render/jinja/run/taint.ts',
        find: "if (typeof value === 'string') return this.look(text);",
        replace: 'return undefined;',
      },
      {
        file: 'src/render/jinja/run/taint.ts',
        find: "pieces.add(text, typeof part === 'string' ? this.look(text) : this.shown(text, part));",
        replace: 'pieces.add(text, undefined);',
      },
      {
        file: 'src/render/jinja/run/taint.ts',
        find: 'this.#learn(result, isExact ? ranges : wholeRange(result, source));',
        replace: '',
      },
      {
        file: 'src/render/jinja/run/taint.ts',
        find: 'if (range) this.#learn(text, wholeRange(text, range.source));',
        replace: '',
      },
      {
        file: 'src/render/jinja/run/taint.ts',
        find: "if (!known.has(text) && text !== '') this.table.learn(text, wholeRange(text, source));",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/unit/render/taint/refusals.test.ts',
    'liquid: what the host sends does not change the structure of %s',
    [
      {
        file: 'src/render/liquid/emitter.ts',
        find: 'this.#add(html.text, html.ranges);',
        replace: 'this.#add(html.text, undefined);',
      },
      {
        file: 'src/render/liquid/emitter.ts',
        find: 'if (ranges) this.#table.learn(this.buffer, ranges);',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/unit/render/taint/refusals.test.ts',
    '%s: the host chooses neither function nor file',
    [
      {
        file: 'src/render/liquid/tracking.ts',
        find: 'if (table && ranges && !choosesOnlyNames(path, ranges))',
        replace: 'if (false)',
      },
      {
        file: 'src/render/liquid/filters.ts',
        find: 'if (table && ranges && (await livesHere?.(String(fun))) !== false)',
        replace: 'if (false)',
      },
      {
        file: 'src/render/liquid/partials.ts',
        find: 'refuseTaintedPath(globals, path);',
        replace: '',
      },
      {
        file: 'src/render/jinja/run/find-template.ts',
        find: "if (node.type !== 'Const') refuseTainted(value, frame);",
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/integration/hostile/tainted-hosts.test.ts',
    'a grain in a pillar file includes no pillar of another host',
    [
      {
        file: 'src/control/facts/tainted-choices.ts',
        find: "if (rendered.kind === 'pillar' || !isName(",
        replace: 'if (!isName(',
      },
    ],
    { isBuilt: true },
  ),
  ...killedBy(
    'test/unit/render/origin.test.ts',
    '%s renders no text that is not a file of the user',
    [
      {
        file: 'src/render/pipe.ts',
        find: "if (evaluates === undefined || origin === 'user-file') return;",
        replace: 'return;',
      },
    ],
  ),
  ...killedBy(
    'test/unit/render/origin.test.ts',
    'the output of another engine is not run as a program',
    [
      {
        file: 'src/render/pipe.ts',
        find: "if (renderer.evaluates === 'program' && stages.length > 0)",
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/unit/render/origin.test.ts',
    'template: is held to renderer_whitelist and renderer_blacklist, in the words used for an SLS',
    [{ file: 'src/render/pipe.ts', find: 'requireAllowed(request, name, fail);', replace: '' }],
  ),
  ...killedBy(
    'test/host/render/sandbox.test.ts',
    'a template is ended for %s, and the next one is rendered',
    [
      {
        file: 'src/render/script/sandbox.ts',
        find: 'runtime.setMemoryLimit(megabytes * 1024 * 1024);',
        replace: '',
      },
    ],
  ),
  ...killedBy(
    'test/host/render/sandbox.test.ts',
    'a template cannot flood its host with calls that it does not wait for',
    [
      {
        file: 'src/render/script/worker.ts',
        find: 'if (this.#run.open.size >= mostCalls)',
        replace: 'if (false)',
      },
    ],
  ),
  ...killedBy(
    'test/host/render/program.test.ts',
    'a program with an endless loop %s is ended by name; others go on',
    [
      {
        file: 'src/render/confined/pool.ts',
        find: 'else this.#give(run);',
        replace: 'else run.reject(new WorkerFailure(error, undefined));',
      },
    ],
  ),
  ...killedBy(
    'test/host/render/regex.test.ts',
    'an expression that takes for ever blocks the event loop for no more than 100 ms: %s',
    [
      {
        file: 'src/render/filters/python-regex.ts',
        find: 'const linear = 55;',
        replace: 'const linear = 500;',
      },
      {
        file: 'src/render/filters/python-regex.ts',
        find: 'const linearAlone = 80;',
        replace: 'const linearAlone = 500;',
      },
    ],
  ),
  ...killedBy(
    'test/unit/control/pillar-secrets.test.ts',
    'a host-supplied message is not decrypted for the host, however a template formats it',
    [
      {
        file: 'src/render/secrets.ts',
        find: 'isSaid(block, said) ? block : decrypt(block)',
        replace: 'decrypt(block)',
      },
    ],
  ),
];
