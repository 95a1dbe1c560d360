import { expect, test } from 'vitest';
import { OpenQuestions } from '../../../src/control/host/open-questions.ts';

/** As `Promise.withResolvers`, which Node 20 lacks. */
const withResolvers = <T>() => {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>(done => {
    resolve = done;
  });
  return { promise, resolve };
};

const never = new AbortController().signal;

test('a question is open from when it is taken until it has an answer or fails', async () => {
  const questions = new OpenQuestions();
  const { promise, resolve } = withResolvers<string>();
  expect(questions.areOpen).toBe(false);

  const answer = questions.answer(() => promise);
  const failed = questions.answer(() => Promise.reject(new Error('no')));
  await expect(failed).rejects.toThrow('no');
  expect(questions.areOpen).toBe(true);

  resolve('yes');
  await expect(answer).resolves.toBe('yes');
  expect(questions.areOpen).toBe(false);
});

test('the end waits for answers, and for none where no question is open', async () => {
  const questions = new OpenQuestions();
  await questions.end(60, never);

  const said: string[] = [];
  const { promise, resolve } = withResolvers<void>();
  void questions.answer(() => promise).then(() => said.push('answer'));
  const end = questions.end(60, never).then(() => said.push('end'));
  resolve();
  await end;
  expect(said).toEqual(['answer', 'end']);
});

test('a question that is never answered ends with its time limit, or with the run', async () => {
  const questions = new OpenQuestions();
  void questions.answer(() => new Promise(() => undefined));
  await questions.end(0.05, never);

  const run = new AbortController();
  const end = questions.end(60, run.signal);
  run.abort();
  await end;
  await questions.end(60, run.signal);
  expect(questions.areOpen).toBe(true);
});
