/** Ends the whole run because the job itself is invalid. The message is shown unchanged. */
export class RunAborted extends Error {
  override readonly name = 'RunAborted';
}
