/** Records in which order the pieces of stdout and stderr arrived, without keeping their text. */
export class ArrivalOrder {
  /** Characters in a row from one stream, alternately from stdout and from stderr. */
  readonly #lengths = [0];

  add(stream: 'stdout' | 'stderr', length: number): void {
    if (length === 0) return;
    const last = this.#lengths.length - 1;
    if ((last % 2 === 0) === (stream === 'stdout'))
      this.#lengths[last] = (this.#lengths[last] ?? 0) + length;
    else this.#lengths.push(length);
  }

  /** Returns the text of both streams as it arrived; where only one has any, that text itself. */
  merge(stdout: string, stderr: string): string {
    if (stdout === '' || stderr === '') return stdout + stderr;
    const at = { stdout: 0, stderr: 0 };
    const pieces = this.#lengths.map((length, index) => {
      const [name, text] =
        index % 2 === 0 ? (['stdout', stdout] as const) : (['stderr', stderr] as const);
      at[name] += length;
      return text.slice(at[name] - length, at[name]);
    });
    return pieces.join('');
  }
}
