import { expect, test } from 'vitest';
import { lowChunks } from '../../../src/compiler/chunks.ts';
import { compile } from '../../../src/compiler/compile.ts';
import { loadSls } from '../../../src/compiler/load.ts';
import { selectStates } from '../../../src/compiler/select-states.ts';
import { memoryLoader } from '../../compiler/memory-loader.ts';

const compiled = async (files: Record<string, string>, names = ['a']) => {
  const loader = memoryLoader({ base: files });
  return compile(await loadSls({ matches: new Map([['base', names]]), loader }), {});
};

/** The IDs that `--tags` selects. */
const tagged = async (files: Record<string, string>, tag: string, names?: string[]) => {
  const { chunks, errors } = await compiled(files, names);
  expect(errors).toEqual([]);
  return selectStates(lowChunks(chunks), { tags: [tag] }).chunks.map(({ __id__ }) => __id__);
};

test.each([
  ['a list', 'tags: [web, front]'],
  ['words with commas', 'tags: front, web'],
])('tags in the header of an SLS are those of its states: %s', async (_, header) => {
  const files = {
    'a.sls': `${header}\ninclude: [b]\nx: test.nop\ny: {test.nop: [{tags: own}]}`,
    'b.sls': 'z: test.nop',
  };
  expect(await tagged(files, 'web')).toEqual(['x', 'y']);
  expect(await tagged(files, 'own')).toEqual(['y']);
});

test('tags of an include are those of the included SLS, and of what it includes', async () => {
  const files = {
    'a.sls': 'include:\n  - b: {tags: [web]}\n  - base: {d: {tags: db}}\n  - e\nx: test.nop',
    'b.sls': 'include: [c]\ny: test.nop',
    'c.sls': 'z: test.nop',
    'd.sls': 'w: test.nop',
    // c was included before.
    'e.sls': 'include: [{c: {tags: [late]}}, a]\nv: test.nop',
  };
  expect(await tagged(files, 'web')).toEqual(['z', 'y']);
  expect(await tagged(files, 'db')).toEqual(['w']);
  expect(await tagged(files, 'late')).toEqual(['z']);
});

test('an extended state keeps the tags of the SLS that declares it', async () => {
  const files = {
    'a.sls': 'include: [{b: {tags: [web]}}]\nextend: {x: {test: [{name: other}]}}\ny: test.nop',
    'b.sls': 'x: test.nop',
  };
  expect(await tagged(files, 'web')).toEqual(['x']);
});

test.each([['tags: test.nop'], ['tags: {test.nop: []}']])(
  'an ID may be called tags: %s',
  async sls => {
    const { chunks, errors } = await compiled({ 'a.sls': sls });
    expect(errors).toEqual([]);
    expect(lowChunks(chunks)).toMatchObject([{ __id__: 'tags' }]);
    expect(lowChunks(chunks)[0]).not.toHaveProperty('__tags__');
  },
);

test.each([
  ['tags: [{a: b}]\nx: test.nop', 'ID tags in SLS a is not a dictionary'],
  ['include: [{b: {tags: {a: b}}}]', 'Nonexistent saltenv'],
  ['include: [{b: {tags: [x], more: 1}}]', 'Nonexistent saltenv'],
])('%j is an error', async (sls, message) => {
  const { errors } = await compiled({ 'a.sls': sls, 'b.sls': 'x: test.nop' });
  expect(errors.map(error => error.message)).toContainEqual(expect.stringContaining(message));
});
