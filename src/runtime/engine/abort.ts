/** Ends the whole run: the job itself makes no sense. The message goes to the user as it is. */
export class RunAborted extends Error {
  override readonly name = 'RunAborted';
}
