/**
 * Asks somebody outside for a part of the pillar. `key` holds everything the answer may depend
 * on.
 */
export type AskOutside = <T>(key: readonly unknown[], ask: () => Promise<T>) => Promise<T>;

/**
 * What was answered to a rehearsal of one host's run. Where that was in vain, the run that begins
 * anew takes each answer instead of asking again: the program that is asked may do more than
 * answer.
 */
export class Outside {
  readonly #answers = new Map<string, Promise<unknown>>();
  #isRehearsed = false;

  /** For the rehearsal, which ends when the run itself asks. */
  rehearse: AskOutside = (key, ask) => {
    if (this.#isRehearsed) return Promise.reject(new Error('The rehearsal was in vain'));
    const answer = ask();
    // Whoever takes it hears of a failure.
    answer.catch(() => undefined);
    this.#answers.set(JSON.stringify(key), answer);
    return answer;
  };

  /** For the run. An answer is taken once: who asks again wants to know what is true now. */
  ask: AskOutside = <T>(key: readonly unknown[], ask: () => Promise<T>): Promise<T> => {
    this.#isRehearsed = true;
    const name = JSON.stringify(key);
    const known = this.#answers.get(name);
    this.#answers.delete(name);
    return (known as Promise<T> | undefined) ?? ask();
  };
}
